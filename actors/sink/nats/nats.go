// Package nats publishes messages to JetStream: each one to the subject of the sink,
// or to a subject of its own, and confirmed when a stream has stored it.
//
// The messages of a batch are published in order and without waiting, then all
// acknowledgements are collected, which are a single one where the stream takes batches.
// A stream that the sink makes does. What is not acknowledged is published again, with
// the same message id, so that the server leaves out what it has already. Which of a
// batch are acknowledged is remembered until they are offered again: an
// acknowledgement that comes out of order, or late, counts.
package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/dial"
)

const (
	ackWait  = 5 * time.Second        // for the acknowledgements of a batch, and for an answer of the API
	lastWait = 250 * time.Millisecond // for those on their way when the context of a write has ended
	window   = 1024                   // messages published and not acknowledged
)

// Options describe a sink.
type Options struct {
	Dialer dial.Dialer
	Target string // "host:port/subject"
	Label  string // of the sink; part of message ids
	Name   string // of the connection, as the server shows it
}

// Transport publishes to one server. Reopen may be called from any goroutine, the
// other methods belong to one sink.
type Transport struct {
	conn    *dial.Conn
	subject string // of messages without one of their own
	label   string
	inbox   string // of acknowledgements, with a dot at the end
	acks    chan *nats.Msg
	marks   chan *nats.Msg // of messages with a mark
	batches chan *nats.Msg // of batches
	stop    chan reason    // why waiting for acknowledgements is vain
	denied  chan denial    // what the server does not let us publish
	timer   *time.Timer

	streams map[string]bool  // subjects that a stream takes, and whether it takes batches
	entries []entry          // of messages offered and not confirmed, in order
	base    uint64           // number of the first entry
	flying  int              // messages published and not acknowledged in this attempt
	marked  int              // those with a mark among them
	hand    []graph.Message  // those of this attempt; nil between two
	vain    map[string]error // subjects for which this attempt found no stream
	begun   uint64           // batches, which makes their names
	msg     nats.Msg
	id      [1]string
	names   names
}

// entry is what is remembered of a message until it is confirmed.
type entry struct {
	id    graph.DeliveryID
	index int
	acked bool
	tried bool  // in a batch
	sent  bool  // in this attempt, and not answered
	err   error // of this attempt
}

func (e *entry) is(m *graph.Message) bool { return e.index == m.Index && e.id == m.ID }

// Check reports a target that names no server or no concrete subject.
func Check(target string) error {
	_, subject, err := natsconn.Address(target)
	if err != nil {
		return err
	}
	if subject == "" {
		return errors.New("a NATS sink needs a subject: nats://host:port/subject")
	}
	return natsconn.Concrete(subject)
}

// Open connects, and finds or makes the stream that takes the subject.
func Open(o Options) (_ *Transport, err error) {
	server, subject, err := natsconn.Address(o.Target)
	if err != nil {
		return nil, err
	}
	t := &Transport{
		subject: subject, label: o.Label, inbox: nats.NewInbox() + ".", acks: make(chan *nats.Msg, 4*window), marks: make(chan *nats.Msg, window),
		batches: make(chan *nats.Msg, 4*window), stop: make(chan reason, 1), denied: make(chan denial, 16), streams: make(map[string]bool), vain: make(map[string]error),
	}
	t.msg.Header = nats.Header{nats.MsgIdHdr: t.id[:]}
	t.timer = time.NewTimer(ackWait)
	t.timer.Stop()
	t.conn, err = o.Dialer.Connect(server, o.Name, dial.Events{
		Lost:    func() { t.giveUpWaiting(errLost) },
		Refused: t.refused,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), ackWait)
	defer cancel()
	_, err = t.conn.ChanSubscribe(t.inbox+unmarked+"*", t.acks)
	if err == nil {
		_, err = t.conn.ChanSubscribe(t.inbox+marked+"*", t.marks)
	}
	if err == nil {
		_, err = t.conn.ChanSubscribe(t.inbox+inBatches+">", t.batches)
	}
	if err == nil {
		err = t.ensure(ctx, subject)
	}
	if err != nil {
		return nil, errors.Join(err, t.conn.Close())
	}
	return t, nil
}

// What stands behind the inbox in reply subjects, of one length.
const (
	unmarked  = "a."
	marked    = "z."
	inBatches = "b."
)

var (
	errLost     = errors.New("the connection broke")
	errNoStream = errors.New("no stream took the message")
)

// reason is why a wait is vain.
type reason struct{ err error }

// permanent is an error that trying again does not mend.
type permanent struct{ error }

func (permanent) Permanent() bool { return true }

// giveUpWaiting ends the wait for acknowledgements.
func (t *Transport) giveUpWaiting(err error) {
	select {
	case t.stop <- reason{err}:
	default:
	}
}

// ensure finds or makes the stream of a subject on its first use.
func (t *Transport) ensure(ctx context.Context, subject string) error {
	if _, found := t.streams[subject]; found {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, ackWait)
	defer cancel()
	info, err := t.conn.Target(ctx, subject)
	if err != nil {
		t.vain[subject] = err
		return err
	}
	if info.Config.NoAck {
		return fmt.Errorf("stream %s does not acknowledge what it stores (no_ack)", info.Config.Name)
	}
	if len(t.streams) >= window { // overrides are few, but nobody promises it
		clear(t.streams)
	}
	t.streams[subject] = info.Config.AllowBatchPublish
	return nil
}

// Write publishes what is not acknowledged yet, waits for the acknowledgements, and
// returns how many of the leading messages have one.
func (t *Transport) Write(ctx context.Context, messages []graph.Message) (confirmed int, err error) {
	t.align(messages)
	t.collect()
	t.hand = messages
	defer func() { t.hand = nil; clear(t.vain) }()
	t.passOver()
	all, err := t.batched(ctx, messages)
	if !all && err == nil {
		err = t.publish(ctx, messages)
	}
	if !all && err == nil {
		err = t.await(ctx, 0)
	}
	return t.settle(len(messages), err)
}

// align makes the entries those of messages. What was offered before and is left out
// now was given up.
func (t *Transport) align(messages []graph.Message) {
	n := len(messages)
	from := 0
	for from < len(t.entries) && n > 0 && !t.entries[from].is(&messages[0]) {
		from++
	}
	t.forget(from)
	for i := range messages {
		if i < len(t.entries) && !t.entries[i].is(&messages[i]) {
			t.forgetFrom(i)
		}
		if i == len(t.entries) {
			t.entries = append(t.entries, entry{id: messages[i].ID, index: messages[i].Index})
		}
		t.entries[i].sent, t.entries[i].err = false, nil
	}
	for i := len(messages); i < len(t.entries); i++ { // offered later
		t.entries[i].sent = false
	}
	t.flying, t.marked = 0, 0
}

// forget drops the first n entries. Their numbers are never used again.
func (t *Transport) forget(n int) {
	t.entries = t.entries[:copy(t.entries, t.entries[n:])]
	t.base += uint64(n)
}

// forgetFrom drops the entries from number i on, and gives those before it new
// numbers, so that no late acknowledgement is taken for one of a successor.
func (t *Transport) forgetFrom(i int) {
	t.base += uint64(len(t.entries))
	t.entries = t.entries[:i]
}

// publish publishes what is not acknowledged, in order. It ends early only when
// nothing further can be published.
func (t *Transport) publish(ctx context.Context, messages []graph.Message) error {
	defer t.cutAfter(ctx)()
	if err := t.conn.Ready(ctx); err != nil {
		return err
	}
	t.names.write(t, messages)
	for i := range messages {
		e := &t.entries[i]
		if e.acked {
			continue
		}
		if t.flying >= window {
			if err := errors.Join(t.await(ctx, window/2), ctx.Err()); err != nil {
				return err
			}
		}
		switch e.err = t.one(ctx, i, &messages[i]); {
		case e.err == nil:
			e.sent = true
			t.flying++
			if t.names.marked(i) {
				t.marked++
			}
		case isPermanent(e.err):
		case ctx.Err() != nil || !t.conn.Up():
			return e.err
		}
	}
	return nil
}

// cutAfter cuts the connection a moment after the end of ctx, until the function that it
// returns is called: a server that does not read holds nobody up.
func (t *Transport) cutAfter(ctx context.Context) (stop func()) {
	published := make(chan struct{})
	ended := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(lastWait)
		defer timer.Stop()
		select {
		case <-timer.C:
			t.conn.Cut()
		case <-published:
		}
	})
	return func() {
		close(published)
		ended()
	}
}

// one publishes a message.
func (t *Transport) one(ctx context.Context, i int, m *graph.Message) error {
	subject := m.Subject()
	if subject == "" {
		subject = t.subject
	} else if err := natsconn.Concrete(subject); err != nil {
		return permanent{err}
	}
	if err := t.vain[subject]; err != nil {
		return err // each message would wait for the same answer
	}
	if err := t.ensure(ctx, subject); err != nil {
		return err
	}
	msg := &t.msg
	if headers := m.Headers(); headers != nil {
		msg = &nats.Msg{Header: make(nats.Header, len(headers)+1)}
		for _, h := range headers {
			msg.Header.Add(h.Name, h.Value)
		}
		msg.Header[nats.MsgIdHdr] = t.id[:]
	}
	msg.Subject, msg.Data = subject, m.Body
	msg.Reply, t.id[0] = t.names.of(i)
	switch err := t.conn.PublishMsg(msg); {
	case errors.Is(err, nats.ErrMaxPayload):
		return permanent{fmt.Errorf("%d bytes are more than the %d that %s takes (max_payload)", len(m.Body), t.conn.MaxPayload(), t.conn.Server())}
	case errors.Is(err, nats.ErrBadHeaderMsg), errors.Is(err, nats.ErrBadSubject), errors.Is(err, nats.ErrHeadersNotSupported):
		return permanent{err}
	default:
		return err
	}
}

func isPermanent(err error) bool {
	var p permanent
	return errors.As(err, &p)
}

// Abandon does nothing: align notices what is not offered again.
func (t *Transport) Abandon() {}

// Reopen does nothing: there is no path.
func (t *Transport) Reopen() {}

// Close closes the connection within a second.
func (t *Transport) Close() error { return t.conn.Close() }
