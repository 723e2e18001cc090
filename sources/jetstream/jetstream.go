package jetstream

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/dial"
	"github.com/sluicehq/sluice/internal/ratelog"
	"github.com/sluicehq/sluice/sources"
)

// Options describe a source.
type Options struct {
	Dialer dial.Dialer
	Target string // "host:port/subject"
	Name   string // of the connection, as the server shows it
	Input  natsconn.Input
	// MaxAckPending is how many messages a consumer that is made here leaves
	// unacknowledged.
	MaxAckPending int
	Metrics       *natsconn.InputMetrics
	// Claim is told once which consumer is to be read from, and when its stream was
	// created, before the consumer is touched. An error refuses it. Nil accepts all.
	Claim func(stream string, created time.Time, consumer string) error
}

// Source reads from one consumer. It is opened with a connection, which Close closes.
type Source struct {
	o       Options
	subject string
	stream  string // identity of the one that it was opened on
	log     *slog.Logger
	noisy   ratelog.Limit
	conn    *dial.Conn
	js      jetstream.JetStream
	ledger  *sources.Ledger[string]
	acks    *acknowledger
	lost    chan struct{} // holds a token when the connection broke

	consumer consumer // Run's
	run      []graph.Line
	returned int // covered messages that are counted

	mu      sync.Mutex // guards the rest
	pulls   *pulls
	arrived chan *nats.Msg
	waiting []arrival // in the ledger, and not handed over
	spare   []arrival // memory of what was
	inside  bool      // Run hands over, so somebody else looks at what arrives
	fault   error     // why the subscription delivers no more
}

// arrival is a message on its way into the intake.
type arrival struct {
	delivery graph.Delivery
	data     []byte
}

// Open connects, and finds or makes stream and consumer.
func Open(o Options) (*Source, error) {
	server, subject, err := natsconn.Address(o.Target)
	if err != nil {
		return nil, err
	}
	if subject == "" {
		subject = ">"
	}
	s := &Source{o: o, subject: subject, log: o.Dialer.Log, lost: make(chan struct{}, 1)}
	lost := make(chan struct{}, 1)
	s.conn, err = o.Dialer.Connect(server, o.Name, dial.Events{Lost: func() { signal(s.lost); signal(lost) }})
	if err != nil {
		return nil, err
	}
	if s.js, err = jetstream.New(s.conn.Conn); err == nil {
		s.consumer, err = s.resolve(context.Background(), true)
	}
	if err == nil {
		s.stream, s.ledger = s.consumer.identity(), sources.NewLedger[string](s.account())
		s.acks, err = startAcknowledging(s, lost)
	}
	if err != nil {
		return nil, errors.Join(err, s.conn.Close())
	}
	s.log.Info("reading from JetStream", "stream", s.consumer.stream, "consumer", s.consumer.name, "subject", subject,
		"ack_wait", s.consumer.ackWait, "max_ack_pending", s.consumer.pending)
	return s, nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// account is what the ledger has to know.
func (s *Source) account() sources.LedgerOptions {
	return sources.LedgerOptions{
		Stream: s.consumer.stream, Identity: s.consumer.identity(), Consumer: s.consumer.name, Snapshot: s.o.Input.Snapshot(), Limit: s.consumer.pending,
	}
}

// Stream is the identity of the stream that the source was opened on.
func (s *Source) Stream() string { return s.stream }

// Positions is the ledger.
func (s *Source) Positions() sources.Positions { return s.ledger }

// Messages that keep coming are handed over in runs, since each run costs something on its
// way. A single message does not wait.
const (
	gather = time.Millisecond // for a run that is short
	enough = 128              // messages of a run
)

var (
	errLost   = errors.New("the connection broke")
	errSilent = errors.New("the server is silent")
	errRefuse = errors.New("the intake refuses")
)

// Run hands messages over. Whatever happens to the server, it ends only when ctx ends or
// the intake refuses.
func (s *Source) Run(ctx context.Context, in sources.Intake) error {
	var pause backoff
	for {
		err := s.receive(ctx, in, &pause)
		if ctx.Err() != nil || errors.Is(err, errRefuse) { // also beside others
			return nil
		}
		s.o.Metrics.ReceiveErrors.Add(1)
		s.tell("receiving failed", err)
		for {
			if !pause.wait(ctx) {
				return nil
			}
			if err = s.conn.Ready(ctx); err == nil {
				err = s.relink(ctx)
			}
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				return nil
			}
			s.o.Metrics.ReceiveErrors.Add(1)
			s.tell("the consumer cannot be read from", err)
		}
	}
}

// tell logs a condition that may repeat, at most once in ten seconds.
func (s *Source) tell(message string, err error) {
	if kept, ok := s.noisy.Allow(message, 1, time.Now()); ok {
		attrs := []any{"stream", s.consumer.stream, "consumer", s.consumer.name, "err", err}
		if kept > 0 {
			attrs = append(attrs, "suppressed", kept)
		}
		s.log.Warn(message, attrs...)
	}
}

// relink looks for the consumer anew, and makes it again when it has vanished.
func (s *Source) relink(ctx context.Context) error {
	found, err := s.resolve(ctx, false)
	if err != nil {
		return err
	}
	was := s.consumer
	s.consumer = found
	other := found.stream != was.stream || !found.created.Equal(was.created)
	if other {
		s.log.Warn("the stream was made anew, or another one takes the subject: what was not acknowledged is not delivered again",
			"stream", found.stream, "before", was.stream)
	}
	s.acks.relinked(func() {
		if other {
			s.ledger.Renew(s.account())
		} else {
			s.ledger.Adjust(found.pending)
			s.ledger.Again()
		}
	}, found.ackWait)
	return nil
}

// receive subscribes, and hands over what comes until ctx ends, the intake refuses or
// nothing comes any more.
func (s *Source) receive(ctx context.Context, in sources.Intake, pause *backoff) error {
	select {
	case <-s.lost: // that was before
	default:
	}
	inbox := nats.NewInbox()
	arrived := make(chan *nats.Msg, requests*atOnce+spare)
	subscription, err := s.conn.ChanSubscribe(inbox, arrived)
	if err != nil {
		return err
	}
	defer func() { _ = subscription.Unsubscribe() }() // of a connection that broke
	s.mu.Lock()
	s.arrived, s.fault = arrived, nil
	s.pulls = &pulls{
		conn: s.conn, inbox: inbox, limits: s.consumer.limits,
		subject: "$JS.API.CONSUMER.MSG.NEXT." + s.consumer.stream + "." + s.consumer.name,
	}
	s.mu.Unlock()
	quiet := time.NewTimer(silence)
	defer quiet.Stop()
	var last time.Time // when messages were handed over
	for {
		s.mu.Lock()
		err := s.pulls.more()
		s.mu.Unlock()
		if err != nil {
			return err
		}
		m, err := s.next(ctx, arrived, quiet.C)
		switch {
		case errors.Is(err, errLost):
			return errors.Join(s.handOver(ctx, in), errLost)
		case m == nil:
			return err
		}
		s.mu.Lock()
		s.enter(m)
		s.look()
		few := len(s.waiting) < enough
		s.mu.Unlock()
		if few && time.Since(last) < 2*gather { // they keep coming
			time.Sleep(gather)
		}
		if err := s.handOver(ctx, in); err != nil {
			return err
		}
		last, pause.next = time.Now(), 0
		quiet.Reset(silence)
	}
}

// next is what arrives; nil when ctx ends, and with an error when the connection is lost or
// nothing has come until quiet.
func (s *Source) next(ctx context.Context, arrived <-chan *nats.Msg, quiet <-chan time.Time) (*nats.Msg, error) {
	select {
	case m := <-arrived:
		return m, nil
	case <-s.lost:
		return nil, errLost
	case <-ctx.Done():
		return nil, nil
	case <-quiet:
	}
	select {
	case m := <-arrived: // the process stood still, not the server
		return m, nil
	default:
		return nil, errSilent
	}
}

// handOver puts what has arrived into the intake, until nothing is left.
func (s *Source) handOver(ctx context.Context, in sources.Intake) error {
	for {
		s.mu.Lock()
		s.inside = false
		s.look()
		all, fault := s.waiting, s.fault
		s.waiting, s.spare, s.inside = s.spare, nil, len(all) > 0
		s.mu.Unlock()
		s.count()
		if len(all) == 0 {
			return fault
		}
		if err := s.put(ctx, in, all); err != nil {
			return errRefuse
		}
		clear(all)
		s.mu.Lock()
		s.spare = all[:0]
		s.mu.Unlock()
	}
}

// count counts the covered messages that have come again.
func (s *Source) count() {
	if n := s.ledger.Returned(); n != s.returned {
		s.o.Metrics.Covered.Add(int64(n - s.returned))
		s.returned = n
	}
}

// look enters what has arrived. The caller holds the lock.
func (s *Source) look() {
	for {
		select {
		case m := <-s.arrived:
			s.enter(m)
		default:
			return
		}
	}
}

// lookInside enters what arrives while Run waits for room, so that it is reported to be
// in progress.
func (s *Source) lookInside() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inside {
		s.look()
	}
}

// enter takes one message. The caller holds the lock.
func (s *Source) enter(m *nats.Msg) {
	position, ok := placeOf(m.Reply)
	if !ok {
		if err := s.pulls.said(m); err != nil && s.fault == nil {
			s.fault = err
		}
		return
	}
	s.pulls.open = max(0, s.pulls.open-1)
	d := s.ledger.Deliver(position, m.Reply)
	switch {
	case d == nil:
	case sources.Blank(m.Data):
		d.Ended()
	default:
		s.waiting = append(s.waiting, arrival{d, m.Data})
	}
}

// put hands over what has arrived, in order.
func (s *Source) put(ctx context.Context, in sources.Intake, all []arrival) error {
	for len(all) > 0 {
		n := 0
		for n < len(all) && len(all[n].data) <= sources.MaxLine {
			n++
		}
		if n > 0 {
			if err := s.putRun(ctx, in, all[:n]); err != nil {
				return err
			}
			all = all[n:]
			continue
		}
		token := graph.NewDeliveryReceipt([]graph.Delivery{all[0].delivery}).Token(0)
		excerpt := bytes.Clone(all[0].data[:sources.ExcerptSize]) // it may wait for long
		if err := in.Oversize(ctx, excerpt, token); err != nil {
			return err
		}
		all = all[1:]
	}
	return nil
}

// putRun hands over one run.
func (s *Source) putRun(ctx context.Context, in sources.Intake, all []arrival) error {
	deliveries, run := make([]graph.Delivery, len(all)), s.run[:0]
	receipt := graph.NewDeliveryReceipt(deliveries)
	for i, a := range all {
		deliveries[i] = a.delivery
		run = append(run, graph.Line{Raw: a.data, Token: receipt.Token(i)})
	}
	n, err := in.Put(ctx, run)
	receipt.Withdraw(n)
	clear(run)
	s.run = run
	return err
}

// Close acknowledges what is due for as long as ctx lasts, and closes the connection.
func (s *Source) Close(ctx context.Context) error {
	s.acks.finish(ctx)
	return s.conn.Close()
}
