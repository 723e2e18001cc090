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
	keptLong    = 2 * pieceBytes  // nor is a larger one of a long piece
	keptWaste   = 4               // times a piece that its buffer may have room for
	pieceBytes  = 256 << 10       // of a piece, unless one result is longer
)

// RenderBuffer is the memory of what was rendered of several result sets in one form, or
// of one long piece. It is used again when every sink is through with all of it.
type RenderBuffer struct {
	memory    *graph.Buffer // of the bodies; counts who needs any of this
	spare     int           // shares of memory that no sink has yet
	text      []byte        // all bodies, each with a line feed behind it
	messages  []graph.Message
	rendered  []graph.Rendered
	envelopes []graph.Envelope
	results   []graph.Result
	bundles   []*graph.Bundle
	used      int // of bundles
}

// renderBuffers keeps buffers that nobody needs. The sinks give them back.
type renderBuffers struct{ idle, long sync.Pool }

// get returns an empty buffer of which the caller has the spare shares.
func (p *renderBuffers) get() *RenderBuffer {
	if b, ok := p.idle.Get().(*RenderBuffer); ok {
		return b.again()
	}
	return newRenderBuffer(renderBytes, func(b *RenderBuffer) { b.keep(&p.idle, keptBytes) })
}

// getLong is get for a long piece.
func (p *renderBuffers) getLong(bytes int) *RenderBuffer {
	if b, ok := p.long.Get().(*RenderBuffer); ok && cap(b.text) >= bytes && cap(b.text) <= keptWaste*bytes {
		return b.again()
	}
	return newRenderBuffer(bytes+bytes/16, func(b *RenderBuffer) { b.keep(&p.long, keptLong) })
}

func (b *RenderBuffer) again() *RenderBuffer {
	b.spare = graph.SpareShares
	b.memory.Retain(b.spare)
	return b
}

// keep has the buffer used again, unless it has become larger than most.
func (b *RenderBuffer) keep(in *sync.Pool, most int) {
	if cap(b.text) > most {
		return
	}
	b.cut(mark{})
	b.used = 0
	in.Put(b)
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

// bundle returns a bundle for so many sinks, with a share for each.
func (b *RenderBuffer) bundle(sinks int) *graph.Bundle {
	if b.used == len(b.bundles) {
		more := make([]graph.Bundle, max(1, len(b.bundles)))
		for i := range more {
			b.bundles = append(b.bundles, &more[i])
		}
	}
	bundle := b.bundles[b.used]
	b.used++
	bundle.Begin(sinks, b.memory)
	b.spare -= sinks
	return bundle
}

// mark is how much lies in a buffer.
type mark struct{ text, messages, rendered, envelopes, results int }

func (b *RenderBuffer) mark() mark {
	return mark{len(b.text), len(b.messages), len(b.rendered), len(b.envelopes), len(b.results)}
}

// cut forgets what lies behind m.
func (b *RenderBuffer) cut(m mark) {
	clear(b.messages[m.messages:])
	clear(b.rendered[m.rendered:])
	clear(b.results[m.results:])
	b.text, b.messages, b.rendered = b.text[:m.text], b.messages[:m.messages], b.rendered[:m.rendered]
	b.envelopes, b.results = b.envelopes[:m.envelopes], b.results[:m.results]
}

// Render writes result sets in the forms of the sinks, in each form once, and bundles
// what neighbours became.
type Render struct {
	forms  []rendering
	formOf []int // of each sink, an index into forms
	from   renderBuffers
}

// rendering is what becomes of sets in one form.
type rendering struct {
	form   graph.Form
	sinks  int
	limit  int           // sets of a bundle
	buffer *RenderBuffer // nil before the first set

	piece *RenderBuffer // what the piece in hand lies in; nil when the form takes nothing of it
	begin mark          // of the piece

	open  *graph.Bundle // takes more sets; nil when the next one begins another
	at    mark          // where it begins
	base  *byte         // of the text where it began
	begun bool          // by the last set
}

// NewRender returns the step for sinks of the given forms.
func NewRender(forms []graph.Form) *Render {
	r := &Render{formOf: make([]int, len(forms))}
	for i, f := range forms {
		at := slices.IndexFunc(r.forms, func(o rendering) bool { return o.form == f })
		if at < 0 {
			at = len(r.forms)
			r.forms = append(r.forms, rendering{form: f, limit: renderSets})
		}
		r.forms[at].sinks++
		r.formOf[i] = at
	}
	return r
}

// Sinks is how many sinks there are.
func (r *Render) Sinks() int { return len(r.formOf) }

// Limit bounds how many sets a bundle for a sink has.
func (r *Render) Limit(sink, sets int) {
	f := &r.forms[r.formOf[sink]]
	f.limit = min(f.limit, max(1, sets))
}

// Piece renders the results of a set from number first on, all of them unless they are
// long, and keeps that in hand until Add. It returns how many forms take something of it,
// and the number of the result that the next piece begins with, that of the results when
// there is none. After a panic Undo has to be called.
func (r *Render) Piece(set *graph.ResultSet, first int, id graph.DeliveryID, now time.Time) (takers, next int) {
	next, size := pieceOf(set, first)
	position, _ := set.Token.Position()
	envelope := graph.Envelope{ID: id, Time: now, Position: position}
	for i := range r.forms {
		f := &r.forms[i]
		f.piece = nil
		if set.Record != nil {
			r.message(f, graph.Payload{Record: set.Record}, 0, size, &envelope)
		}
		for i := first; i < next; i++ {
			r.message(f, graph.Payload{Result: &set.Results[i]}, i, size, &envelope)
		}
		if f.piece != nil {
			f.finish(set, first, next)
			takers++
		}
	}
	return takers, next
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

// Undo forgets what Piece left in hand, or half of it.
func (r *Render) Undo() {
	for i := range r.forms {
		if f := &r.forms[i]; f.piece != nil {
			f.piece.cut(f.begin)
			f.piece = nil
		}
	}
}

// Size is that of the piece in hand in a sink's lane, of the form for which it is largest.
func (r *Render) Size() (units, bytes int) {
	for i := range r.forms {
		if b := r.forms[i].piece; b != nil {
			units, bytes = 1, max(bytes, b.rendered[len(b.rendered)-1].Bytes)
		}
	}
	return units, bytes
}

// Add adds the piece in hand to the open bundles, with a token of which each form has a
// share, and reports whether it began others.
func (r *Render) Add(token graph.Token) (begun bool) {
	for i := range r.forms {
		f := &r.forms[i]
		if f.begun = false; f.piece != nil {
			f.add(token)
		}
		begun = begun || f.begun
	}
	return begun
}

// Begun returns the bundle for a sink that began with what was added last, and nil when
// it goes with those before, or nowhere. Until Close more may be added.
func (r *Render) Begun(sink int) *graph.Bundle {
	if f := &r.forms[r.formOf[sink]]; f.begun {
		return f.open
	}
	return nil
}

// Close has the next piece begin other bundles, also one that is in hand.
func (r *Render) Close() {
	for i := range r.forms {
		f := &r.forms[i]
		f.open = nil
		if b := f.buffer; b != nil && b != f.piece && (len(b.text) > cap(b.text)/2 || len(b.envelopes) > renderSets/2) {
			b.leave() // so that the next bundle has room for as many sets
			f.buffer = nil
		}
	}
}

// bufferFor returns a buffer for a piece of about so many bytes.
func (r *Render) bufferFor(f *rendering, bytes int) *RenderBuffer {
	if bytes > renderLong {
		return r.from.getLong(bytes)
	}
	if b := f.buffer; b != nil {
		if len(b.envelopes) < renderSets && cap(b.text)-len(b.text) >= bytes {
			return b
		}
		b.leave()
		f.open = nil
	}
	f.buffer = r.from.get()
	return f.buffer
}

// message renders p, unless the form does not accept it. size is about that of the piece.
func (r *Render) message(f *rendering, p graph.Payload, index, size int, e *graph.Envelope) {
	if !f.form.Accepts(p) {
		return
	}
	b := f.piece
	if b == nil {
		b = r.bufferFor(f, size)
		f.piece, f.begin = b, b.mark()
		b.envelopes = append(b.envelopes, *e)
	}
	b.messages = append(b.messages, graph.Message{Envelope: &b.envelopes[len(b.envelopes)-1], Index: index, Kind: p.Kind()})
	m := &b.messages[len(b.messages)-1]
	text, err := f.form.Append(b.text, p, m)
	if err != nil {
		m.Fail(err)
		return
	}
	if a, ok := p.Record.(graph.Addressed); ok {
		if subject := a.NATSSubject(); subject != "" {
			m.Address(subject, m.Headers()...)
		}
	}
	m.Body = text[len(b.text):len(text):len(text)]
	b.text = append(text, '\n')
}

// finish makes a rendered set of the messages of the piece.
func (f *rendering) finish(set *graph.ResultSet, first, next int) {
	b := f.piece
	out := graph.Rendered{Messages: b.messages[f.begin.messages:len(b.messages):len(b.messages)], Record: set.Record, Bytes: len(b.text) - f.begin.text, First: first}
	keep := !f.form.Native()
	for i := range out.Messages {
		m := &out.Messages[i]
		out.Bytes += sizeBeside(m)
		keep = keep || m.Err() != nil
	}
	if keep && first < next {
		b.results = append(b.results, set.Results[first:next]...)
		out.Results = b.results[f.begin.results:len(b.results):len(b.results)]
		out.Bytes += set.Held * (next - first) / len(set.Results)
	}
	b.rendered = append(b.rendered, out)
}

// add adds the piece in hand to a bundle.
func (f *rendering) add(token graph.Token) {
	b := f.piece
	f.piece = nil
	if f.open == nil || f.open.Buffer != b.memory || len(f.open.Sets) >= f.limit {
		f.open, f.at, f.base, f.begun = b.bundle(f.sinks), f.begin, &b.text[:1][0], true
	}
	set := &b.rendered[len(b.rendered)-1]
	set.Token = token
	open := f.open
	for i := range set.Messages {
		open.Faulty = open.Faulty || set.Messages[i].Err() != nil
	}
	var lines []byte
	if !open.Faulty && f.base == &b.text[:1][0] { // the text did not move
		lines = b.text[f.at.text:len(b.text):len(b.text)]
	}
	open.Extend(b.rendered[f.at.rendered:len(b.rendered):len(b.rendered)], b.messages[f.at.messages:len(b.messages):len(b.messages)], lines)
	open.Bytes += set.Bytes
	b.memory.Bytes = b.text
	if b != f.buffer { // a long piece goes alone
		b.leave()
	}
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
