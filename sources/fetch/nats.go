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

// Subscribe calls take with the value of each message of a source of Push, in order and one
// after another, until ctx ends, and returns nil then. Of a message that is no value, err is
// an *Error. The connection is made again for ever; what fails there is logged. When messages
// come faster than they are taken, old ones give way to new ones.
func (c *Client) Subscribe(ctx context.Context, d *Declaration, take func(json []byte, err error)) error {
	log := c.log.With("source", d.ID)
	c.follow(ctx, log, subscriber{url: d.URL, subject: d.Subject, name: "sluice source " + d.ID}, func(p payload) {
		within, cancel := context.WithTimeout(ctx, defaultTimeout)
		defer cancel()
		value, err := d.received(within, p)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			take(nil, of(within, d.ID, err))
		default:
			take(value, nil)
		}
	})
	return nil
}

// Control calls take with the payload of each message of a subject of a server, which is
// "nats://host:port" or "tls://host:port", until ctx ends, and returns nil then. Payloads of
// more than 10 MiB are empty. Everything else is as with Subscribe.
func (c *Client) Control(ctx context.Context, server, subject string, take func(payload []byte)) error {
	log := c.log.With("server", server, "subject", subject)
	c.follow(ctx, log, subscriber{url: server, subject: subject, name: "sluice control"}, func(p payload) { take(p.data) })
	return nil
}

const gaveWay = "messages come faster than they are read: old ones gave way"

// follow subscribes until ctx ends.
func (c *Client) follow(ctx context.Context, log *slog.Logger, o subscriber, take func(payload)) {
	waiting := newBacklog()
	var told ratelog.Limit
	o.take = func(p payload) {
		if lost := waiting.put(p); lost > 0 {
			if held, ok := told.Allow("", lost, time.Now()); ok {
				log.Warn(gaveWay, "messages", held+lost)
			}
		}
	}
	defer func() {
		if held := told.Rest(""); held > 0 {
			log.Warn(gaveWay, "messages", held)
		}
	}()
	var reading sync.WaitGroup
	reading.Go(func() { waiting.each(ctx, take) })
	defer reading.Wait()
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		s, err := c.subscribe(ctx, o)
		if err == nil {
			wait = retryFirst
			log.Info("subscribed")
			select {
			case <-s.ended:
				err = s.reason
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
}

// subscription is one that the server has confirmed.
type subscription struct {
	conn   *dial.Conn
	once   sync.Once
	ended  chan struct{} // closed when no more messages come
	reason error         // why, when ended is closed
}

func (s *subscription) end(reason error) {
	s.once.Do(func() {
		s.reason = reason
		close(s.ended)
	})
}

func (s *subscription) close() { _ = s.conn.Close() } // never fails

// subscribe connects and subscribes. It ends with ctx; the subscription does not.
func (c *Client) subscribe(ctx context.Context, o subscriber) (*subscription, error) {
	s := &subscription{ended: make(chan struct{})}
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
	sub, err := conn.Subscribe(o.subject, func(m *nats.Msg) {
		if len(m.Data) > maxPayload {
			o.take(payload{tooLarge: true})
			return
		}
		o.take(payload{data: m.Data})
	})
	if err == nil {
		err = sub.SetPendingLimits(nats.DefaultSubPendingMsgsLimit, pendingBytes)
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
