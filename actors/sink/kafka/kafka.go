package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
)

const (
	ackWait  = 5 * time.Second        // for the confirmations of a batch
	lastWait = 250 * time.Millisecond // for those on their way when the context of a write has ended
	buffered = 1 << 16                // records that wait for confirmation
	perBatch = 1_000_012              // bytes, unless the topic says otherwise
)

// Options describe a sink.
type Options struct {
	Dialer dial.Dialer
	Target string // "broker,broker/topic"
	Label  string // of the sink; part of the ids of records
	Name   string // of the client, as brokers show it
}

// Transport produces to one topic. Reopen may be called from any goroutine, the other
// methods belong to one sink.
type Transport struct {
	o       Options
	brokers []string
	topic   string
	largest int32 // bytes of a batch that the topic takes
	client  *dial.Client
	changed chan struct{} // holds a token when an entry was answered
	failed  chan reason   // holds why there is no connection
	timer   *time.Timer

	mu      sync.Mutex // guards the contents of entries
	entries []*entry   // of messages offered and not confirmed, in order
	open    int        // records that are with the client
}

// entry is what is remembered of a message until it is confirmed.
type entry struct {
	id     graph.DeliveryID
	index  int
	with   bool // the record is with the client
	stored bool
	err    error
}

func (e *entry) is(m *graph.Message) bool { return e.index == m.Index && e.id == m.ID }

// Check reports a target that names no brokers or no topic.
func Check(target string) error {
	_, _, err := kafkaconn.Address(target)
	return err
}

// Open looks whether the brokers and the topic can be used.
func Open(ctx context.Context, o Options) (*Transport, error) {
	brokers, topic, err := kafkaconn.Address(o.Target)
	if err != nil {
		return nil, err
	}
	t := &Transport{
		o: o, brokers: brokers, topic: topic, largest: perBatch,
		changed: make(chan struct{}, 1), failed: make(chan reason, 1), timer: time.NewTimer(ackWait),
	}
	t.timer.Stop()
	if err := t.connect(); err != nil {
		return nil, err
	}
	if _, err := t.client.Topic(ctx, topic); err != nil {
		t.client.Close()
		return nil, err
	}
	if n, ok := t.client.LargestBatch(ctx, topic); ok && n != t.largest {
		t.largest = n
		t.client.Close()
		if err := t.connect(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// reason is why a wait is vain.
type reason struct{ err error }

// connect makes a client that has nothing to produce.
func (t *Transport) connect() (err error) {
	t.client, err = t.o.Dialer.New(t.brokers, t.o.Name, dial.Events{Failed: func(err error) {
		select {
		case t.failed <- reason{err}:
		default:
		}
	}},
		kgo.DefaultProduceTopic(t.topic), kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProducerLinger(0),
		kgo.MaxBufferedRecords(buffered), kgo.ProducerBatchMaxBytes(t.largest), kgo.UnknownTopicRetries(-1),
	)
	return err
}

// Write produces what is not with the client yet, waits for the confirmations, and returns
// how many of the leading messages have one.
func (t *Transport) Write(ctx context.Context, messages []graph.Message) (confirmed int, err error) {
	if err := t.align(messages); err != nil {
		return 0, err
	}
	select {
	case <-t.failed: // what happened meanwhile is over
	default:
	}
	t.produce(messages)
	return t.settle(len(messages), t.await(ctx))
}

// align makes the entries those of messages. When one that is with the client was given up,
// everything there is: nobody can say what became of it.
func (t *Transport) align(messages []graph.Message) error {
	t.mu.Lock()
	from, lost := 0, false
	for from < len(t.entries) && (len(messages) == 0 || !t.entries[from].is(&messages[0])) {
		lost = lost || t.entries[from].with
		from++
	}
	t.entries = t.entries[from:]
	for i := range messages {
		if i < len(t.entries) && !t.entries[i].is(&messages[i]) {
			for _, e := range t.entries[i:] {
				lost = lost || e.with
			}
			t.entries = t.entries[:i:i]
		}
		if i == len(t.entries) {
			t.entries = append(t.entries, &entry{id: messages[i].ID, index: messages[i].Index})
		}
	}
	t.mu.Unlock()
	if !lost {
		return nil
	}
	t.client.Close() // answers what is with it
	return t.connect()
}

// produce gives the client what it does not have, and what it gave back.
func (t *Transport) produce(messages []graph.Message) {
	t.mu.Lock()
	var fresh []int
	size := 0
	for i, e := range t.entries {
		if !e.stored && !e.with {
			e.with, e.err = true, nil
			fresh = append(fresh, i)
			size += len(messages[i].Body)
		}
	}
	t.open += len(fresh)
	entries := t.entries
	t.mu.Unlock()
	bodies := make([]byte, 0, size) // the client may keep them for longer than this attempt
	for _, i := range fresh {
		m, e := &messages[i], entries[i]
		from := len(bodies)
		bodies = append(bodies, m.Body...)
		r := &kgo.Record{Value: bodies[from:len(bodies):len(bodies)], Headers: headers(m, t.o.Label), Timestamp: m.Time}
		t.client.Produce(context.Background(), r, func(_ *kgo.Record, err error) { t.answered(e, err) })
	}
}

// answered notes what became of a record.
func (t *Transport) answered(e *entry, err error) {
	t.mu.Lock()
	e.with, e.stored, e.err = false, err == nil, err
	t.open--
	t.mu.Unlock()
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// await waits until every record is answered. When ctx has ended, it gives the answers on
// their way a moment: what is stored need not be told lost.
func (t *Transport) await(ctx context.Context) error {
	t.timer.Reset(ackWait)
	defer t.timer.Stop()
	ended := ctx.Done()
	for {
		t.mu.Lock()
		open := t.open
		t.mu.Unlock()
		if open == 0 {
			return nil
		}
		select {
		case <-t.changed:
		case why := <-t.failed:
			return fmt.Errorf("no connection to Kafka: %w", why.err)
		case <-t.timer.C:
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("no confirmation of topic %s within %s", t.topic, ackWait)
		case <-ended:
			ended = nil
			t.timer.Reset(lastWait)
		}
	}
}

// settle forgets the leading entries that are stored. The error is that of the first one
// that is not, else cause.
func (t *Transport) settle(n int, cause error) (confirmed int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for confirmed < n && t.entries[confirmed].stored {
		confirmed++
	}
	t.entries = t.entries[confirmed:]
	if confirmed == n {
		return n, nil
	}
	if own := t.entries[0].err; own != nil {
		cause = t.explain(own)
	}
	u := &unconfirmed{error: cause}
	for _, e := range t.entries {
		u.stored = append(u.stored, e.stored)
	}
	return confirmed, u
}

// unconfirmed is an error that knows which of the messages behind the first one are stored
// all the same.
type unconfirmed struct {
	error
	stored []bool
}

func (u *unconfirmed) Unwrap() error { return u.error }

// Confirmed reports whether message i is stored, counted from the first one that is not.
func (u *unconfirmed) Confirmed(i int) bool { return i < len(u.stored) && u.stored[i] }

// permanent is an error that trying again does not mend.
type permanent struct{ error }

func (permanent) Permanent() bool { return true }

// explain tells what trying again does not mend.
func (t *Transport) explain(err error) error {
	switch {
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge):
		return permanent{fmt.Errorf("the record is larger than topic %s takes (max.message.bytes): %w", t.topic, err)}
	case errors.Is(err, kerr.InvalidRecord):
		return permanent{fmt.Errorf("topic %s refuses the record, as topics do that are compacted, for want of a key: %w", t.topic, err)}
	}
	return dial.Explain(dial.About(err, t.topic, ""))
}

// Abandon does nothing: align notices what is not offered again.
func (t *Transport) Abandon() {}

// Reopen does nothing: there is no path.
func (t *Transport) Reopen() {}

// Close closes the client. What is with it and not confirmed counts as not delivered.
func (t *Transport) Close() error {
	t.client.Close()
	return nil
}
