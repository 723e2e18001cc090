package nats

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"unsafe"

	"github.com/nats-io/nats.go"

	"github.com/sluicehq/sluice/graph"
)

// A stream that allows it (allow_batched, of servers from 2.14 on) takes a batch with one
// acknowledgement for all of its messages, and stores none behind one that it missed. Only
// that acknowledgement counts. After any other answer the messages are published one by one,
// with the same ids: the stream leaves out what it has.
//
// The server reads from the reply subject of a message to which batch it belongs:
// <inbox>.b.<batch>.<flow>.fail.<number of the message>.<operation>.$FI

// What stands behind the number of a message in its reply subject: whether it begins the
// batch, goes on, or ends it.
const (
	begins = ".0.$FI"
	goesOn = ".1.$FI"
	ends   = ".2.$FI"
)

// headerRoom is more than the headers take that a message gets here.
const headerRoom = 1 << 10

// noBatches is the code of a stream that takes no batches.
const noBatches = 10205

// batched publishes messages in batches where it may, and reports whether the stream has all
// of them. After an error nothing further can be published.
func (t *Transport) batched(ctx context.Context, messages []graph.Message) (all bool, err error) {
	if len(messages) < 2 || !t.fits(messages) {
		return false, nil
	}
	for from := 0; from < len(messages); from += window {
		to := min(from+window, len(messages))
		all, err = t.batch(ctx, messages[from:to], t.entries[from:to])
		if err == nil && (!all || to < len(messages)) {
			err = ctx.Err() // nothing more is published
		}
		if !all || err != nil {
			return false, err
		}
	}
	return true, nil
}

// fits reports whether messages go to the one stream that is known to take batches, whether
// the server takes each of them, and whether none was ever published in a batch.
func (t *Transport) fits(messages []graph.Message) bool {
	if !t.streams[t.subject] {
		return false
	}
	limit := t.conn.MaxPayload() - headerRoom
	for i := range messages {
		m := &messages[i]
		if t.entries[i].tried || m.Subject() != "" || m.Headers() != nil || int64(len(m.Body)) > limit {
			return false
		}
	}
	return true
}

// batch publishes messages as one batch, and reports whether the stream has all of them.
func (t *Transport) batch(ctx context.Context, messages []graph.Message, entries []entry) (all bool, err error) {
	if err := t.publishBatch(ctx, messages, entries); err != nil {
		if ctx.Err() == nil && t.conn.Up() {
			err = nil // it may be that of one message
		}
		return false, err
	}
	if all, err = t.awaitBatch(ctx, len(messages)); all {
		for i := range entries {
			entries[i].acked = true
		}
	}
	return all, err
}

func (t *Transport) publishBatch(ctx context.Context, messages []graph.Message, entries []entry) error {
	defer t.cutAfter(ctx)()
	if err := t.conn.Ready(ctx); err != nil {
		return err
	}
	t.names.writeBatch(t, messages)
	for i := range messages {
		entries[i].tried = true
		if err := t.one(ctx, i, &messages[i]); err != nil {
			return err
		}
	}
	return nil
}

// awaitBatch waits for what the stream says of the batch in hand, of n messages.
func (t *Transport) awaitBatch(ctx context.Context, n int) (all bool, err error) {
	t.timer.Reset(ackWait)
	defer t.timer.Stop()
	ended := ctx.Done()
	for {
		select {
		case m := <-t.batches:
			ours := strings.HasPrefix(m.Subject, t.names.text[:t.names.batch])
			if ours && !bytes.HasPrefix(m.Data, []byte(`{"type":"ack"`)) { // that tells how far it is
				return t.took(m, n), nil
			}
		case d := <-t.denied:
			if d.covers(t.subject) {
				return false, d.err
			}
		case why := <-t.stop:
			return false, why.err
		case <-t.timer.C:
			return false, t.late(ctx)
		case <-ended:
			ended = nil
			t.timer.Reset(lastWait)
		}
	}
}

// took reports whether an answer acknowledges all n messages of a batch.
func (t *Transport) took(m *nats.Msg, n int) bool {
	var a struct {
		answer
		Count int `json:"count"`
	}
	if m.Header.Get("Status") == noResponders {
		clear(t.streams)
		return false
	}
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return false
	}
	if a.Error != nil && a.Error.ErrorCode == noBatches { // it is another one, or was changed
		t.streams[t.subject] = false
	}
	return a.Error == nil && a.Stream != "" && a.Count == n
}

// writeBatch makes the names of the messages of a batch that no stream has seen yet.
func (n *names) writeBatch(t *Transport, messages []graph.Message) {
	t.begun++
	n.buf, n.ends = append(append(n.buf[:0], t.inbox...), inBatches...), n.ends[:0]
	n.buf = append(n.buf, t.inbox[len("_INBOX."):len(t.inbox)-1]...) // which is nobody else's
	n.buf = append(strconv.AppendUint(append(n.buf, '-'), t.begun, 10), '.')
	n.buf = append(strconv.AppendInt(n.buf, window, 10), ".fail."...)
	n.batch = len(n.buf)
	for i := range messages {
		if i > 0 {
			n.buf = append(n.buf, n.buf[:n.batch]...)
		}
		n.buf = strconv.AppendInt(n.buf, int64(i+1), 10)
		switch i {
		case len(messages) - 1:
			n.buf = append(n.buf, ends...)
		case 0:
			n.buf = append(n.buf, begins...)
		default:
			n.buf = append(n.buf, goesOn...)
		}
		n.ends = append(n.ends, len(n.buf))
		n.buf = messages[i].AppendID(n.buf, t.label, firstLabel)
		n.ends = append(n.ends, len(n.buf))
	}
	n.text = textOf(n.buf)
}

// textOf reads b as a text for as long as b does not change.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
