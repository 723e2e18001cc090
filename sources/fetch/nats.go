//go:build !no_nats

package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sluicehq/sluice/internal/natsconn/dial"
	"github.com/sluicehq/sluice/internal/ratelog"
)

// Bounds of NATS.
const (
	pendingBytes = 256 << 20        // that the library holds until it hands them over, which never waits
	confirmWait  = 5 * time.Second  // for a server to confirm a subscription
	retryFirst   = time.Second      // before an attempt to subscribe again
	retryMost    = 30 * time.Second // the same, when many have failed
)

// message waits for one message. Without one in time a source of Push is pending.
func (c *Client) message(ctx context.Context, d *Declaration) (payload, bool, error) {
	connecting, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	first := make(chan payload, 1)
	s, err := c.subscribe(connecting, subscriber{
		url: d.URL, subject: d.Subject, name: "sluice source " + d.ID, level: slog.LevelWarn,
		take: func(p payload) {
			select {
			case first <- p:
			default: // one is enough
			}
		},
	})
	if err != nil {
		return payload{}, false, err
	}
	defer s.close()
	late := time.NewTimer(d.Timeout)
	defer late.Stop()
	select {
	case p := <-first:
		return p, false, nil
	case <-s.ended:
		return payload{}, false, s.reason
	case <-ctx.Done():
		return payload{}, false, ctx.Err()
	case <-late.C:
	}
	if d.Refresh.Policy == Push {
		return payload{}, true, nil
	}
	return payload{}, false, context.DeadlineExceeded
}

// Subscribe calls take with what came of the messages of a source of Push, one call after
// another, until ctx ends, and returns nil then. No value is older than one before. The
// connection is made again for ever; what fails there is logged. When messages come faster
// than they are taken, those before a newer value are passed over.
func (c *Client) Subscribe(ctx context.Context, d *Declaration, take func(Pushed)) error {
	return c.push(ctx, d, pendingBytes, take)
}

// push is Subscribe, with a bound of what the library holds.
func (c *Client) push(ctx context.Context, d *Declaration, pending int, take func(Pushed)) error {
	log := c.log.With("source", d.ID)
	s := &stream{ctx: ctx, d: d, log: log, waiting: newBacklog()}
	var reading sync.WaitGroup
	reading.Go(func() { s.run(take) })
	c.follow(ctx, log, subscriber{url: d.URL, subject: d.Subject, name: "sluice source " + d.ID, take: s.arrive, lost: s.lose, pending: pending})
	reading.Wait()
	return nil
}

const gaveWay = "messages come faster than they are read: old ones gave way"

// Control calls take with the payload of each message of a subject of a server, which is
// "nats://host:port" or "tls://host:port", one after another, until ctx ends, and returns nil
// then. Payloads of more than 10 MiB are empty. The connection is made again for ever; what
// fails there is logged. When messages come faster than they are taken, old ones give way to
// new ones.
func (c *Client) Control(ctx context.Context, server, subject string, take func(payload []byte)) error {
	log := c.log.With("server", server, "subject", subject)
	waiting := newBacklog()
	var told ratelog.Limit
	var reading sync.WaitGroup
	reading.Go(func() { waiting.each(ctx, func(m message) { take(m.data) }, func() {}) })
	c.follow(ctx, log, subscriber{url: server, subject: subject, name: "sluice control", take: func(p payload) {
		lost := 0
		for {
			if _, ok := waiting.put(p); ok {
				break
			}
			if _, ok := waiting.next(); ok {
				lost++
			}
		}
		if lost == 0 {
			return
		}
		if held, ok := told.Allow("", lost, time.Now()); ok {
			log.Warn(gaveWay, "messages", held+lost)
		}
	}})
	reading.Wait()
	if held := told.Rest(""); held > 0 {
		log.Warn(gaveWay, "messages", held)
	}
	return nil
}

// follow subscribes until ctx ends.
func (c *Client) follow(ctx context.Context, log *slog.Logger, o subscriber) {
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		s, err := c.subscribe(ctx, o)
		if err == nil {
			wait = retryFirst
			log.Info("subscribed")
			select {
			case <-s.ended:
				err = s.reason
				s.finish(ctx)
			case <-ctx.Done():
			}
			s.close()
		}
		if ctx.Err() != nil {
			return
		}
		log.Warn("the subscription failed and is tried again", "wait", wait, "err", err)
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
	}
}

// subscriber says what to subscribe to.
type subscriber struct {
	url, subject string
	name         string     // that the server shows
	level        slog.Level // of the log lines of the connection, at least
	take         func(payload)
	lost         func(messages int) // nil: nobody asks
	pending      int                // bytes that the library holds; 0 is pendingBytes
}

// subscription is one that the server has confirmed.
type subscription struct {
	conn   *dial.Conn
	sub    *nats.Subscription // nil before there is one
	losses losses
	once   sync.Once
	ended  chan struct{} // closed when no more messages come
	reason error         // why, when ended is closed
	taken  chan struct{} // holds a token when the last message that had come was taken behind that
}

func (s *subscription) end(reason error) {
	s.once.Do(func() {
		s.reason = reason
		close(s.ended)
	})
}

// finish waits until the messages that have come are taken: the library forgets them when the
// connection is closed.
func (s *subscription) finish(ctx context.Context) {
	for {
		if left, _, err := s.sub.Pending(); err != nil || left == 0 {
			return
		}
		select {
		case <-s.taken:
		case <-ctx.Done():
			return
		}
	}
}

// took notes that a message was taken.
func (s *subscription) took(sub *nats.Subscription) {
	select {
	case <-s.ended:
	default:
		return
	}
	if left, _, err := sub.Pending(); err != nil || left == 0 {
		wake(s.taken)
	}
}

func (s *subscription) close() {
	s.losses.see(s.sub)
	_ = s.conn.Close() // never fails
}

// losses tell of messages that the library has dropped since too many waited for a reader.
type losses struct {
	tell func(messages int) // nil: nobody asks

	mu    sync.Mutex // guards known
	known int
}

func (l *losses) see(sub *nats.Subscription) {
	if l.tell == nil {
		return
	}
	l.mu.Lock()
	all, err := sub.Dropped() // in here, since two may ask at once
	more := all - l.known
	if more > 0 {
		l.known = all
	}
	l.mu.Unlock()
	if err == nil && more > 0 { // else there is no subscription, or no more
		l.tell(more)
	}
}

// subscribe connects and subscribes. It ends with ctx; the subscription does not.
func (c *Client) subscribe(ctx context.Context, o subscriber) (*subscription, error) {
	s := &subscription{ended: make(chan struct{}), taken: make(chan struct{}, 1), losses: losses{tell: o.lost}}
	conn, err := c.connect(ctx, o, dial.Events{
		Lost: func() { s.end(errors.New("the connection broke")) },
		Refused: func(err error) {
			if !errors.Is(err, nats.ErrSlowConsumer) { // which is logged, and messages go on
				s.end(fmt.Errorf("the server refuses the subscription: %w", err))
			}
		},
	})
	if err != nil {
		return nil, err
	}
	s.conn = conn
	s.sub, err = conn.Subscribe(o.subject, func(m *nats.Msg) {
		s.losses.see(m.Sub)
		if len(m.Data) > maxPayload {
			o.take(payload{tooLarge: true})
		} else {
			o.take(payload{data: m.Data})
		}
		s.took(m.Sub)
	})
	if err == nil {
		err = s.sub.SetPendingLimits(nats.DefaultSubPendingMsgsLimit, cmp.Or(o.pending, pendingBytes))
	}
	if err == nil {
		confirming, cancel := context.WithTimeout(ctx, confirmWait)
		defer cancel()
		err = conn.FlushWithContext(confirming) // the server has seen the subscription then
	}
	if err == nil {
		err = conn.LastError() // and has refused it
	}
	if err == nil {
		return s, nil
	}
	s.close()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("subscribe to %s: %w", o.subject, err)
}

// connect connects to a server until ctx ends.
func (c *Client) connect(ctx context.Context, o subscriber, e dial.Events) (*dial.Conn, error) {
	address, secure, err := server(o.url)
	if err != nil {
		return nil, err
	}
	config := c.options.NATS.Config
	config.RequireTLS = config.RequireTLS || secure
	log := cmp.Or(c.options.NATS.Log, c.log)
	l := &lifeline{ctx: ctx, dial: c.options.DialNATS}
	d := dial.Dialer{Config: config, Log: slog.New(atLeast{log.Handler(), o.level}), Dial: l.connect}
	conn, err := d.Connect(address, o.name, e)
	l.release()
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, err
}

// lifeline makes network connections that break when ctx ends, until it is released.
type lifeline struct {
	ctx  context.Context
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu       sync.Mutex // guards the rest
	released bool
	stops    []func() bool
}

func (l *lifeline) connect(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	connect := l.dial
	if connect == nil {
		connect = new(net.Dialer).DialContext
	}
	conn, err := connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.released {
		l.stops = append(l.stops, context.AfterFunc(l.ctx, func() { _ = conn.Close() }))
	}
	return conn, nil
}

func (l *lifeline) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.released = true
	for _, stop := range l.stops {
		stop()
	}
}

// atLeast is a handler that leaves out what is below a level.
type atLeast struct {
	slog.Handler
	level slog.Level
}

// Enabled implements slog.Handler.
func (h atLeast) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level && h.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (h atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeast{h.Handler.WithAttrs(attrs), h.level}
}

// WithGroup implements slog.Handler.
func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{h.Handler.WithGroup(name), h.level}
}
