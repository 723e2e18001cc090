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
	flight      = 4096                 // acknowledgements on their way
	groupSize   = 256                  // of them that are confirmed together
	gatherAcks  = 2 * time.Millisecond // for a group that is not full
	confirmWait = 5 * time.Second      // for the server to confirm one
)

var (
	ackAck      = []byte("+ACK")
	ackProgress = []byte("+WPI")
)

// acknowledger sends acknowledgements, many at a time, and tells the ledger of those that
// the server has confirmed. A consumer takes acknowledgements one after another in the order
// of the connection, so the last one of a group is confirmed for all of them. Its goroutine
// owns it.
type acknowledger struct {
	source    *Source
	inbox     string // of confirmations, with a dot at the end
	confirmed chan *nats.Msg
	lost      <-chan struct{}
	do        chan func()
	closing   chan context.Context
	done      chan struct{}

	due      []sources.Ack[string]
	flying   []group // in the order of sending
	base     uint64  // number of the first one
	open     int     // acknowledgements in them
	progress *time.Ticker
	gather   *time.Timer
}

// group is acknowledgements on their way; none of them when it is over.
type group struct {
	sequences []uint64
	sent      time.Time
}

// reportEvery is how often the server is told what is in progress.
func reportEvery(ackWait time.Duration) time.Duration { return max(ackWait/2, 10*time.Millisecond) }

// startAcknowledging begins to acknowledge what the ledger says.
func startAcknowledging(s *Source, lost <-chan struct{}) (*acknowledger, error) {
	a := &acknowledger{
		source: s, inbox: nats.NewInbox() + ".", lost: lost, confirmed: make(chan *nats.Msg, flight),
		do: make(chan func()), closing: make(chan context.Context), done: make(chan struct{}),
		progress: time.NewTicker(reportEvery(s.consumer.ackWait)), gather: time.NewTimer(0),
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
	defer a.gather.Stop()
	late := time.NewTicker(time.Second)
	defer late.Stop()
	var ending context.Context
	var ended <-chan struct{}
	gathering := false
	for {
		a.due = a.source.ledger.Acks(a.due)
		if len(a.due) > 0 && !gathering {
			a.gather.Reset(gatherAcks)
			gathering = true
		}
		if len(a.due) >= groupSize || ending != nil {
			a.send()
		}
		if ending != nil && a.open == 0 && len(a.due) == 0 {
			return
		}
		more := a.source.ledger.Due()
		if gathering {
			more = nil
		}
		select {
		case m := <-a.confirmed:
			a.confirm(m)
		case <-more:
		case <-a.gather.C:
			gathering = false
			a.due = a.source.ledger.Acks(a.due)
			a.send()
		case <-late.C:
			a.collect()
			a.expire(time.Now())
		case <-a.progress.C:
			a.report()
		case <-a.lost:
			a.collect()
			a.fail(a.abandon(), errLost)
		case work := <-a.do:
			work()
		case ending = <-a.closing:
			ended = ending.Done()
		case <-ended:
			a.collect()
			a.fail(a.abandon()+len(a.due), ending.Err())
			return
		}
	}
}

// send sends what is due, as far as there is room on the way.
func (a *acknowledger) send() {
	now, left := time.Now(), a.due
	for len(left) > 0 && a.open < flight {
		n := min(len(left), groupSize)
		if err := a.sendGroup(left[:n]); err != nil {
			a.fail(len(left), err)
			left = nil // they are due again when there is a connection
			break
		}
		g := group{sequences: make([]uint64, n), sent: now}
		for i, ack := range left[:n] {
			g.sequences[i] = ack.Sequence
		}
		a.flying = append(a.flying, g)
		a.open += n
		left = left[n:]
	}
	n := copy(a.due, left)
	clear(a.due[n:])
	a.due = a.due[:n]
}

// sendGroup sends acknowledgements, of which the last one is to be confirmed.
func (a *acknowledger) sendGroup(acks []sources.Ack[string]) error {
	last := len(acks) - 1
	for _, ack := range acks[:last] {
		if err := a.source.conn.Publish(ack.Message, ackAck); err != nil {
			return err
		}
	}
	number := a.base + uint64(len(a.flying))
	return a.source.conn.PublishRequest(acks[last].Message, a.inbox+strconv.FormatUint(number, 10), ackAck)
}

// confirm tells the ledger what the server has confirmed.
func (a *acknowledger) confirm(m *nats.Msg) {
	n, ok := number(m.Subject[len(a.inbox):])
	i := n - a.base
	if !ok || n < a.base || i >= uint64(len(a.flying)) {
		return // given up before
	}
	acked := a.flying[i].sequences
	a.over(int(i))
	if len(m.Header) > 0 {
		a.fail(len(acked), errNobody)
		return
	}
	a.source.ledger.ConfirmedAll(acked)
}

// collect takes the confirmations that have come: what is confirmed is not late.
func (a *acknowledger) collect() {
	for {
		select {
		case m := <-a.confirmed:
			a.confirm(m)
		default:
			return
		}
	}
}

// over ends a group, and forgets those at the front that are over.
func (a *acknowledger) over(i int) {
	a.open -= len(a.flying[i].sequences)
	a.flying[i].sequences = nil
	n := 0
	for n < len(a.flying) && a.flying[n].sequences == nil {
		n++
	}
	a.flying = a.flying[:copy(a.flying, a.flying[n:])]
	a.base += uint64(n)
}

// expire gives up what has been on its way for too long.
func (a *acknowledger) expire(now time.Time) {
	for len(a.flying) > 0 && now.Sub(a.flying[0].sent) >= confirmWait {
		lost := len(a.flying[0].sequences)
		a.over(0)
		a.fail(lost, errNoWord)
	}
}

// abandon gives up all that is on its way, and returns how many that are.
func (a *acknowledger) abandon() (n int) {
	n = a.open
	a.base += uint64(len(a.flying))
	a.flying, a.open = nil, 0
	return n
}

var (
	errNobody = errors.New("nobody answers for the consumer")
	errNoWord = errors.New("the server does not confirm them (may the user publish to $JS.ACK.>?)")
)

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
