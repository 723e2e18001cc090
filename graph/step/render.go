package step

import (
	"slices"
	"sync"
	"time"

	"github.com/sluicehq/sluice/graph"
)

const (
	renderBytes = 64 << 10  // of a new buffer
	renderSets  = 64        // result sets of a buffer
	keptBytes   = 256 << 10 // a buffer that long lines made larger is not used again
)

// RenderBuffer is the memory of what was rendered of several result sets. It is
// used again when every sink is through with all of them.
type RenderBuffer struct {
	memory    *graph.Buffer // of the bodies; counts who needs any of this
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
		b.memory.Retain(1)
		return b
	}
	b := &RenderBuffer{text: make([]byte, 0, renderBytes)}
	b.memory = graph.NewBuffer(b.text, func(*graph.Buffer) {
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

// Render writes result sets in the forms of the sinks, in each form once.
type Render struct {
	forms    []graph.Form
	formOf   []int             // of each sink, an index into forms
	rendered []*graph.Rendered // of the set in hand, per form
	offered  []*graph.Rendered // the same per sink
	from     renderBuffers
	buffer   *RenderBuffer // nil before the first set
	hint     int           // bytes that a set usually needs
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

// Set renders a result set. It returns what each sink has to deliver, in the
// order of NewRender and until the next call: nil for a sink whose form accepts
// nothing of the set, and with a share of the buffer for each of the others. A
// set whose rendering panics leaves nothing behind.
func (r *Render) Set(set *graph.ResultSet, id graph.DeliveryID, now time.Time) []*graph.Rendered {
	b := r.room()
	draft := *b
	position, _ := set.Token.Position()
	draft.envelopes = append(draft.envelopes, graph.Envelope{ID: id, Time: now, Position: position})
	for i, f := range r.forms {
		r.rendered[i] = draft.set(f, set)
	}
	shares := 0
	for i, f := range r.formOf {
		if r.offered[i] = r.rendered[f]; r.offered[i] != nil {
			shares++
		}
	}
	r.hint = (7*r.hint + len(draft.text) - len(b.text)) / 8
	*b = draft
	b.memory.Bytes = b.text
	b.memory.Retain(shares)
	return r.offered
}

// room returns a buffer for one more set.
func (r *Render) room() *RenderBuffer {
	if b := r.buffer; b != nil {
		if len(b.envelopes) < renderSets && cap(b.text)-len(b.text) >= 2*r.hint {
			return b
		}
		b.memory.Release(1)
	}
	r.buffer = r.from.get()
	return r.buffer
}

// set renders in one form. It returns nil when the form accepts nothing.
func (b *RenderBuffer) set(f graph.Form, set *graph.ResultSet) *graph.Rendered {
	from, original := len(b.messages), !f.Native()
	out := graph.Rendered{Token: set.Token, Record: set.Record, Buffer: b.memory}
	if set.Record != nil {
		b.message(f, graph.Payload{Record: set.Record}, 0)
	}
	for i := range set.Results {
		b.message(f, graph.Payload{Result: &set.Results[i]}, i)
	}
	if len(b.messages) == from {
		return nil
	}
	out.Messages = b.messages[from:len(b.messages):len(b.messages)]
	for i := range out.Messages {
		m := &out.Messages[i]
		out.Bytes += len(m.Subject) + len(m.Body)
		for _, h := range m.Headers {
			out.Bytes += len(h.Name) + len(h.Value)
		}
		original = original || m.Err != nil
	}
	if original && set.Record == nil {
		at := len(b.results)
		b.results = append(b.results, set.Results...)
		out.Results = b.results[at:len(b.results):len(b.results)]
		out.Bytes += set.Held
	}
	b.rendered = append(b.rendered, out)
	return &b.rendered[len(b.rendered)-1]
}

// message renders p if the form accepts it.
func (b *RenderBuffer) message(f graph.Form, p graph.Payload, index int) {
	if !f.Accepts(p) {
		return
	}
	bare := graph.Message{Envelope: &b.envelopes[len(b.envelopes)-1], Index: index, Kind: p.Kind()}
	b.messages = append(b.messages, bare)
	m := &b.messages[len(b.messages)-1]
	at := len(b.text)
	text, err := f.Append(b.text, p, m)
	if err != nil {
		bare.Err = err
		*m = bare
		return
	}
	m.Body, b.text = text[at:len(text):len(text)], text
}
