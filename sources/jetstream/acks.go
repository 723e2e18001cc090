package jetstream

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sluicehq/sluice/sources"
)

const (
	flight      = 4096            // acknowledgements on their way
	worthMoving = 1024            // of them over at the front, before the rest is moved
	confirmWait = 5 * time.Second // for the server to confirm one
)

var (
	ackAck      = []byte("+ACK")
	ackProgress = []byte("+WPI")
)

// acknowledger sends acknowledgements, many at a time, and tells the ledger of those that
// the server has confirmed. Its goroutine owns it.
type acknowledger struct {
	source    *Source
	inbox     string // of confirmations, with a dot at the end
	confirmed chan *nats.Msg
	lost      <-chan struct{}
	do        chan func()
	closing   chan context.Context
	done      chan struct{}

	due      []sources.Ack[string]
	flying   []flying // in the order of sending
	base     uint64   // number of the first one
	open     int      // of them not confirmed
	progress *time.Ticker

	buf       []byte
	ends      []int
	sequences []uint64
}

// reportEvery is how often the server is told what is in progress.
func reportEvery(ackWait time.Duration) time.Duration { return max(ackWait/2, 10*time.Millisecond) }

// flying is an acknowledgement on its way.
type flying struct {
	sequence uint64
	sent     time.Time
	over     bool
}

// startAcknowledging begins to acknowledge what the ledger says.
func startAcknowledging(s *Source, lost <-chan struct{}) (*acknowledger, error) {
	a := &acknowledger{
		source: s, inbox: nats.NewInbox() + ".", lost: lost, confirmed: make(chan *nats.Msg, 2*flight),
		do: make(chan func()), closing: make(chan context.Context), done: make(chan struct{}),
		progress: time.NewTicker(reportEvery(s.consumer.ackWait)),
	}
	if _, err := s.conn.ChanSubscribe(a.inbox+"*", a.confirmed); err != nil {
		return nil, err
	}
	go a.run()
	return a, nil
}

// relinked has work done between two acknowledgements, after which those on their way are
// nobody's, and messages have so long to be acknowledged.
func (a *acknowledger) relinked(work func(), ackWait time.Duration) {
	finished := make(chan struct{})
	a.do <- func() {
		a.abandon()
		a.due = nil
		work()
		a.progress.Reset(reportEvery(ackWait))
		close(finished)
	}
	<-finished
}

// finish acknowledges what is due for as long as ctx lasts.
func (a *acknowledger) finish(ctx context.Context) {
	a.closing <- ctx
	<-a.done
}

func (a *acknowledger) run() {
	defer close(a.done)
	defer a.progress.Stop()
	late := time.NewTicker(time.Second)
	defer late.Stop()
	var ending context.Context
	var ended <-chan struct{}
	for {
		a.due = append(a.due, a.source.ledger.Acks()...)
		a.send()
		if ending != nil && a.open == 0 && len(a.due) == 0 {
			return
		}
		select {
		case m := <-a.confirmed:
			a.confirm(m)
		case <-a.source.ledger.Due():
		case <-late.C:
			a.expire(time.Now())
		case <-a.progress.C:
			a.report()
		case <-a.lost:
			a.fail(a.abandon(), errLost)
		case work := <-a.do:
			work()
		case ending = <-a.closing:
			ended = ending.Done()
		case <-ended:
			a.fail(a.abandon()+len(a.due), ending.Err())
			return
		}
	}
}

// send sends what is due, as far as there is room on the way.
func (a *acknowledger) send() {
	n := min(len(a.due), flight-a.open, 2*flight-len(a.flying))
	if n <= 0 {
		return
	}
	now, failed := time.Now(), 0
	var cause error
	names := a.names(n)
	from := 0
	for i, ack := range a.due[:n] {
		reply := names[from:a.ends[i]]
		from = a.ends[i]
		if err := a.source.conn.PublishRequest(ack.Message, reply, ackAck); err != nil {
			failed, cause = failed+1, err
			a.flying = append(a.flying, flying{over: true})
			continue
		}
		a.flying = append(a.flying, flying{sequence: ack.Sequence, sent: now})
		a.open++
	}
	a.due = a.due[:copy(a.due, a.due[n:])]
	if len(a.due) == 0 && cap(a.due) > flight {
		a.due = nil
	}
	a.shift()
	a.fail(failed, cause)
}

// names are the reply subjects of the next n acknowledgements, in one text.
func (a *acknowledger) names(n int) string {
	a.buf, a.ends = a.buf[:0], a.ends[:0]
	next := a.base + uint64(len(a.flying))
	for i := range n {
		a.buf = strconv.AppendUint(append(a.buf, a.inbox...), next+uint64(i), 10)
		a.ends = append(a.ends, len(a.buf))
	}
	return string(a.buf)
}

// confirm tells the ledger what the server has confirmed, with all that has come.
func (a *acknowledger) confirm(m *nats.Msg) {
	a.sequences = a.sequences[:0]
	refused := 0
	for m != nil {
		n, ok := number(m.Subject[len(a.inbox):])
		if i := n - a.base; ok && n >= a.base && i < uint64(len(a.flying)) && !a.flying[i].over {
			f := &a.flying[i]
			f.over = true
			a.open--
			if len(m.Header) == 0 {
				a.sequences = append(a.sequences, f.sequence)
			} else {
				refused++
			}
		}
		select {
		case m = <-a.confirmed:
		default:
			m = nil
		}
	}
	a.source.ledger.ConfirmedAll(a.sequences)
	a.shift()
	a.fail(refused, errNobody)
}

var (
	errNobody = errors.New("nobody answers for the consumer")
	errNoWord = errors.New("the server does not confirm them (may the user publish to $JS.ACK.>?)")
)

// shift forgets what is over at the front.
func (a *acknowledger) shift() {
	n := 0
	for n < len(a.flying) && a.flying[n].over {
		n++
	}
	if n == len(a.flying) || n >= worthMoving {
		a.flying = a.flying[:copy(a.flying, a.flying[n:])]
		a.base += uint64(n)
	}
}

// expire gives up what has been on its way for too long.
func (a *acknowledger) expire(now time.Time) {
	lost := 0
	for i := range a.flying {
		f := &a.flying[i]
		if f.over {
			continue
		}
		if now.Sub(f.sent) < confirmWait {
			break
		}
		f.over = true
		a.open--
		lost++
	}
	a.shift()
	a.fail(lost, errNoWord)
}

// abandon gives up all that is on its way, and returns how many that are.
func (a *acknowledger) abandon() (n int) {
	n = a.open
	a.base += uint64(len(a.flying))
	a.flying, a.open = a.flying[:0], 0
	return n
}

// fail tells of acknowledgements that failed. The server delivers their messages again.
func (a *acknowledger) fail(n int, err error) {
	if n == 0 {
		return
	}
	a.source.o.Metrics.AckFailures.Add(int64(n))
	if kept, ok := a.source.noisy.Allow("acks", n, time.Now()); ok {
		a.source.log.Warn("acknowledgements failed, the server delivers the messages again", "messages", kept+n, "err", err)
	}
}

// report tells the server which messages are in progress.
func (a *acknowledger) report() {
	a.source.lookInside()
	for _, reply := range a.source.ledger.Held() {
		if a.source.conn.Publish(reply, ackProgress) != nil {
			return // there is no connection
		}
	}
}
