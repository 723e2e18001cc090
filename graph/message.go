package graph

import (
	"encoding/hex"
	"strconv"
	"time"
)

// DeliveryID is a random number that all sinks and retries of a delivery share.
type DeliveryID [16]byte

// String returns "msg_" and 32 hexadecimal digits.
func (id DeliveryID) String() string { return "msg_" + hex.EncodeToString(id[:]) }

// UUID returns the number as what it is, a random UUID.
func (id DeliveryID) UUID() string { return string(id.AppendUUID(nil)) }

// AppendUUID appends UUID.
func (id DeliveryID) AppendUUID(dst []byte) []byte {
	dst = append(hex.AppendEncode(dst, id[:4]), '-')
	dst = append(hex.AppendEncode(dst, id[4:6]), '-')
	dst = append(hex.AppendEncode(dst, id[6:8]), '-')
	dst = append(hex.AppendEncode(dst, id[8:10]), '-')
	return hex.AppendEncode(dst, id[10:])
}

// Kind says what a message tells.
type Kind string

// KindDeadLetter is the kind of dead letters. Records and results have their own.
const KindDeadLetter Kind = "dead_letter"

// Envelope is what the messages of one result set have in common, whatever their
// form. It is the same for all sinks and retries.
type Envelope struct {
	ID       DeliveryID
	Time     time.Time // of the delivery
	Position Position  // of the line; zero for a record, and of an input that cannot deliver again
}

// Message is what reaches a destination: one result or record as a form wrote it.
// Thousands are made in a millisecond, so what few have lies beside it.
type Message struct {
	*Envelope
	Index  int // of the result in its set: what the form does not accept leaves a gap
	Kind   Kind
	Body   []byte // without a line ending
	beside *beside
}

// beside is what few messages have.
type beside struct {
	subject string
	headers []Header
	err     error
}

// Header is a name and value that accompany a body.
type Header struct{ Name, Value string }

// Address gives the message a subject and headers.
func (m *Message) Address(subject string, headers ...Header) {
	m.beside = &beside{subject: subject, headers: headers}
}

// Fail makes it a message that the form could not write, without a body or an address.
func (m *Message) Fail(err error) { m.Body, m.beside = nil, &beside{err: err} }

// Subject is where the message goes to within the destination; "" is the usual place.
func (m *Message) Subject() string {
	if m.beside == nil {
		return ""
	}
	return m.beside.subject
}

// Headers accompany the body.
func (m *Message) Headers() []Header {
	if m.beside == nil {
		return nil
	}
	return m.beside.headers
}

// Err is why the form could not write the message: no destination ever gets it. It is
// nil for all others.
func (m *Message) Err() error {
	if m.beside == nil {
		return nil
	}
	return m.beside.err
}

// Payload is what one message is made of: a result, or a record.
type Payload struct {
	Result *Result // nil for a record
	Record Record
}

// Kind is what the payload is.
func (p Payload) Kind() Kind {
	if p.Record != nil {
		return p.Record.Kind()
	}
	return p.Result.Kind()
}

// AppendNative appends the native line, without its line feed.
func (p Payload) AppendNative(dst []byte) []byte {
	if p.Record != nil {
		return p.Record.AppendNative(dst)
	}
	return p.Result.AppendNative(dst)
}

// Form is what a sink takes, and how. Forms are compared by ==: dispatch asks
// each form once per result, and sinks of equal forms share the messages. Forms
// have no state, as several goroutines may call them.
type Form interface {
	// Accepts reports whether the sink takes p. Of what it does not take the sink
	// learns nothing.
	Accepts(p Payload) bool
	// Append appends the body of a message about p and may give m, which has the
	// rest already, an Address. An error means that p can never be
	// written in this form: it becomes a dead letter of each sink of the form.
	Append(dst []byte, p Payload, m *Message) ([]byte, error)
	// Native reports whether every body is the native line.
	Native() bool
}

// Rendered is what the sinks of one form deliver of one result set, or of a piece of a
// long one.
type Rendered struct {
	Messages []Message // at least one
	Token    Token     // one share, whatever the number of sinks; zero for a record
	Record   Record    // that the message is about; nil for results
	Results  []Result  // of the piece, unless all bodies are native lines
	First    int       // number of the first of Results in the set
	Bytes    int       // that Messages and Results hold
}

// AppendOriginal appends what a dead letter shows of the messages from up to to:
// a record's native line, or a JSON array of native results.
func (r *Rendered) AppendOriginal(dst []byte, from, to int) []byte {
	if r.Record != nil {
		return r.Record.AppendNative(dst)
	}
	dst = append(dst, '[')
	for i := from; i < to; i++ {
		if i > from {
			dst = append(dst, ',')
		}
		if m := &r.Messages[i]; r.Results == nil {
			dst = append(dst, m.Body...)
		} else {
			dst = r.Results[m.Index-r.First].AppendNative(dst)
		}
	}
	return append(dst, ']')
}

// AppendID appends the id that tells the message apart from all others, for receivers that
// leave out what they have already. Where the input can deliver the line again, the id is
// made of the line's place, so that it is the same after a restart. All sinks share the id
// of a delivery, so those behind the first add their label: two of them may write to one
// place. first is the label of the first sink of a kind.
func (m *Message) AppendID(dst []byte, label, first string) []byte {
	if p := &m.Position; p.Sequence != 0 {
		dst = append(append(dst, p.Stream...), '-')
		dst = append(strconv.AppendUint(dst, p.Sequence, 10), '-')
		dst = append(append(dst, label...), '-')
	} else {
		dst = append(hex.AppendEncode(append(dst, "msg_"...), m.ID[:]), '-')
	}
	dst = strconv.AppendInt(dst, int64(m.Index), 10)
	if m.Position.Sequence == 0 && label != "" && label != first {
		dst = append(append(dst, '-'), label...)
	}
	return dst
}
