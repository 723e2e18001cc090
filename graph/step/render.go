package step

import (
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/sluicehq/sluice/graph"
)

const (
	renderBytes = 64 << 10        // of a new buffer
	renderSets  = 64              // pieces of a buffer
	renderLong  = renderBytes / 4 // a longer piece has a buffer of its own
	keptBytes   = 256 << 10       // a buffer that long lines made larger is not used again
	pieceBytes  = 256 << 10       // of a piece, unless one result is longer
)

// RenderBuffer is the memory of what was rendered of several result sets, or of one
// long piece. It is used again when every sink is through with all of them.
type RenderBuffer struct {
	memory    *graph.Buffer // of the bodies; counts who needs any of this
	spare     int           // shares of memory that no sink has yet
	text      []byte        // all bodies
	messages  []graph.Message
	rendered  []graph.Rendered
	envelopes []graph.Envelope
	results   []graph.Result
}

// renderBuffers keeps buffers that nobody needs. The sinks give them back.
type renderBuffers struct{ idle sync.Pool }

// get returns an empty buffer of which the caller has a share.
func (p *renderBuffers) get() *RenderBuffer {
	if b, ok := p.idle.Get().(*RenderBuffer); ok {
		b.spare = graph.SpareShares
		b.memory.Retain(b.spare)
		return b
	}
	b := newRenderBuffer(renderBytes, func(b *RenderBuffer) {
		if cap(b.text) > keptBytes {
			return
		}
		clear(b.messages)
		clear(b.rendered)
		clear(b.results)
		b.text, b.messages, b.rendered, b.envelopes, b.results = b.text[:0], b.messages[:0], b.rendered[:0], b.envelopes[:0], b.results[:0]
		p.idle.Put(b)
	})
	return b
}

// newRenderBuffer returns a buffer for about so many bytes. spent is called when nobody
// needs it any more.
func newRenderBuffer(bytes int, spent func(*RenderBuffer)) *RenderBuffer {
	b := &RenderBuffer{text: make([]byte, 0, bytes), spare: graph.SpareShares}
	b.memory = graph.NewBuffer(b.text, func(*graph.Buffer) { spent(b) })
	b.memory.Retain(b.spare - 1)
	return b
}

// leave gives the spare shares back: nothing is rendered into b any more.
func (b *RenderBuffer) leave() { b.memory.Release(b.spare) }

// Render writes result sets in the forms of the sinks, in each form once.
type Render struct {
	forms    []graph.Form
	formOf   []int             // of each sink, an index into forms
	rendered []*graph.Rendered // of the set in hand, per form
	offered  []*graph.Rendered // the same per sink
	takers   int               // how many forms accepted something of the piece before
	from     renderBuffers
	buffer   *RenderBuffer // nil before the first set
}

// NewRender returns the step for sinks of the given forms.
func NewRender(forms []graph.Form) *Render {
	r := &Render{formOf: make([]int, len(forms)), offered: make([]*graph.Rendered, len(forms))}
	for i, f := range forms {
		if !slices.Contains(r.forms, f) {
			r.forms = append(r.forms, f)
		}
		r.formOf[i] = slices.Index(r.forms, f)
	}
	r.rendered = make([]*graph.Rendered, len(r.forms))
	return r
}

// Piece renders the results of a set from number first on: all of them, unless they are
// long. It returns what each sink has to deliver, in the order of NewRender and until
// the next call: nil for a sink whose form accepts nothing of it, and with a share of
// the buffer for each of the others. next is the number of the result that the next
// piece begins with, that of the results when there is none. After a panic Undo has to
// be called.
func (r *Render) Piece(set *graph.ResultSet, first int, id graph.DeliveryID, now time.Time) (offered []*graph.Rendered, next int) {
	next, size := pieceOf(set, first)
	b := r.room(size * max(r.takers, 1))
	position, _ := set.Token.Position()
	b.envelopes = append(b.envelopes, graph.Envelope{ID: id, Time: now, Position: position})
	r.takers = 0
	for i, f := range r.forms {
		if r.rendered[i] = b.piece(f, set, first, next); r.rendered[i] != nil {
			r.takers++
		}
	}
	shares := 0
	for i, f := range r.formOf {
		if r.offered[i] = r.rendered[f]; r.offered[i] != nil {
			shares++
		}
	}
	b.memory.Bytes = b.text
	b.spare -= shares
	if b != r.buffer {
		b.leave()
	}
	return r.offered, next
}

// pieceOf returns where the piece of a set ends that begins with a result, and about
// how long its native lines are.
func pieceOf(set *graph.ResultSet, first int) (next, size int) {
	for next = first; next < len(set.Results); next++ {
		n := set.Results[next].Size()
		if next > first && size+n > pieceBytes {
			break
		}
		size += n
	}
	return next, size
}

// Undo forgets a piece whose rendering panicked.
func (r *Render) Undo() {
	if r.buffer != nil {
		r.buffer.leave()
		r.buffer = nil // what is half written there is cleared when the sinks are through with the rest
	}
}

// room returns a buffer for one more piece of about so many bytes.
func (r *Render) room(bytes int) *RenderBuffer {
	if bytes > renderLong {
		return newRenderBuffer(bytes+bytes/16, func(*RenderBuffer) {})
	}
	if b := r.buffer; b != nil {
		if len(b.envelopes) < renderSets && cap(b.text)-len(b.text) >= bytes {
			return b
		}
		b.leave()
	}
	r.buffer = r.from.get()
	return r.buffer
}

// piece renders results of a set in one form. It returns nil when the form accepts
// nothing.
func (b *RenderBuffer) piece(f graph.Form, set *graph.ResultSet, first, next int) *graph.Rendered {
	text, from := len(b.text), len(b.messages)
	beside, keep := 0, !f.Native()
	if set.Record != nil {
		if m := b.message(f, graph.Payload{Record: set.Record}, 0); m != nil {
			beside = sizeBeside(m)
		}
	}
	for i := first; i < next; i++ {
		if m := b.message(f, graph.Payload{Result: &set.Results[i]}, i); m != nil {
			beside += sizeBeside(m)
			keep = keep || m.Err() != nil
		}
	}
	if len(b.messages) == from {
		return nil
	}
	b.rendered = append(b.rendered, graph.Rendered{
		Messages: b.messages[from:len(b.messages):len(b.messages)], Token: set.Token, Record: set.Record,
		Bytes: len(b.text) - text + beside, Buffer: b.memory, First: first,
	})
	out := &b.rendered[len(b.rendered)-1]
	if keep && first < next {
		at := len(b.results)
		b.results = append(b.results, set.Results[first:next]...)
		out.Results = b.results[at:len(b.results):len(b.results)]
		out.Bytes += set.Held * (next - first) / len(set.Results)
	}
	return out
}

// messageBytes is what a message takes itself.
const messageBytes = int(unsafe.Sizeof(graph.Message{}))

// sizeBeside is the size of a message without its body.
func sizeBeside(m *graph.Message) int {
	n := messageBytes + len(m.Subject())
	for _, h := range m.Headers() {
		n += len(h.Name) + len(h.Value)
	}
	return n
}

// message renders p. It returns nil when the form does not accept it.
func (b *RenderBuffer) message(f graph.Form, p graph.Payload, index int) *graph.Message {
	if !f.Accepts(p) {
		return nil
	}
	b.messages = append(b.messages, graph.Message{Envelope: &b.envelopes[len(b.envelopes)-1], Index: index, Kind: p.Kind()})
	m := &b.messages[len(b.messages)-1]
	text, err := f.Append(b.text, p, m)
	if err != nil {
		m.Fail(err)
		return m
	}
	m.Body, b.text = text[len(b.text):len(text):len(text)], text
	return m
}
