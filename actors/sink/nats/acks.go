package nats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// collect takes the acknowledgements that are there. Nobody else takes any.
func (t *Transport) collect() {
	for len(t.acks) > 0 {
		t.acknowledged(<-t.acks)
	}
	for len(t.marks) > 0 {
		t.acknowledged(<-t.marks)
	}
	for len(t.batches) > 0 {
		<-t.batches // of one that is over
	}
}

// await waits until at most so many messages lack an acknowledgement. When ctx has ended,
// it gives those on their way a moment: what is stored need not be told lost.
func (t *Transport) await(ctx context.Context, open int) error {
	t.collect()
	if t.flying <= open {
		return nil
	}
	t.timer.Reset(ackWait)
	defer t.timer.Stop()
	ended := ctx.Done()
	for t.flying > open {
		acks := t.acks
		if t.marked > 0 {
			acks = nil // a mark wakes us once for all messages before it
		}
		select {
		case m := <-acks:
			t.acknowledged(m)
		case m := <-t.marks:
			t.acknowledged(m)
			t.collect()
		case d := <-t.denied:
			t.deny(d)
			t.collect()
		case why := <-t.stop:
			t.collect()
			return why.err
		case <-t.timer.C:
			t.collect()
			return t.late(ctx)
		case <-ended:
			ended, open = nil, 0 // nothing more is published
			t.timer.Reset(lastWait)
		}
	}
	return nil
}

// late is why waiting ends when the time is over.
func (t *Transport) late(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fmt.Errorf("no acknowledgement from %s within %s", t.conn.Server(), ackWait)
}

// answer is what the server says of a message.
type answer struct {
	Stream string              `json:"stream"`
	Error  *jetstream.APIError `json:"error"`
}

// acknowledged notes what became of a message.
func (t *Transport) acknowledged(m *nats.Msg) {
	number, err := strconv.ParseUint(m.Subject[len(t.inbox)+len(unmarked):], 10, 64)
	i := number - t.base
	if err != nil || number < t.base || i >= uint64(len(t.entries)) {
		return // of a message that was given up
	}
	e := &t.entries[i]
	err = nil
	if !stored(m.Data) {
		err = t.rejection(m)
	}
	if err == nil { // late or not
		e.acked, e.err = true, nil
	}
	if e.sent {
		t.answered(int(i), err)
	}
}

// answered ends the wait for a message of this attempt.
func (t *Transport) answered(i int, err error) {
	t.entries[i].sent, t.entries[i].err = false, err
	t.flying--
	if t.names.marked(i) {
		t.marked--
	}
}

// stored reports whether the answer is a plain acknowledgement, without decoding it.
func stored(data []byte) bool {
	return bytes.HasPrefix(data, []byte(`{"stream":"`)) && !bytes.Contains(data, []byte(`"error"`))
}

// noResponders is the status of an answer to a subject that no stream takes.
const noResponders = "503"

// exceedsStream is the code of a message above the limit of its stream.
const exceedsStream = 10054

// rejection is why a message is not stored. Nil means that it is.
func (t *Transport) rejection(m *nats.Msg) error {
	if m.Header.Get("Status") == noResponders {
		clear(t.streams) // the stream may be gone: look for it again
		return errNoStream
	}
	var a answer
	switch err := json.Unmarshal(m.Data, &a); {
	case err != nil:
		return fmt.Errorf("an acknowledgement that is none: %w", err)
	case a.Error != nil && a.Error.ErrorCode == exceedsStream:
		return permanent{fmt.Errorf("stream %s: %s (max_msg_size)", a.Stream, a.Error.Description)}
	case a.Error != nil:
		return fmt.Errorf("stream %s: %s (%d)", a.Stream, a.Error.Description, a.Error.ErrorCode)
	case a.Stream == "":
		return errors.New("an acknowledgement without a stream")
	}
	return nil
}

// settle forgets the leading entries that are acknowledged. The error is that of the
// first one that is not, else cause.
func (t *Transport) settle(n int, cause error) (confirmed int, err error) {
	for confirmed < n && t.entries[confirmed].acked {
		confirmed++
	}
	t.forget(confirmed)
	if confirmed == n {
		return n, nil
	}
	if t.entries[0].err != nil {
		cause = t.entries[0].err
	}
	return confirmed, t.unacknowledged(n-confirmed, cause)
}

// unacknowledged is an error that knows which of the messages behind the first one have
// an acknowledgement all the same.
type unacknowledged struct {
	error
	acked []bool
}

func (u *unacknowledged) Unwrap() error { return u.error }

// Confirmed reports whether message i is stored, counted from the first one that is not.
func (u *unacknowledged) Confirmed(i int) bool { return i < len(u.acked) && u.acked[i] }

// unacknowledged adds to an error which of the first n entries are acknowledged.
func (t *Transport) unacknowledged(n int, err error) error {
	u := &unacknowledged{error: err}
	for i := range n {
		if t.entries[i].acked {
			u.acked = append(append(u.acked, make([]bool, i-len(u.acked))...), true)
		}
	}
	if u.acked == nil {
		return err
	}
	return u
}
