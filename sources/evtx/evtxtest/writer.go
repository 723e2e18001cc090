package evtxtest

import (
	"encoding/binary"
	"maps"
)

// writer writes a chunk.
type writer struct {
	bytes      []byte
	names      map[string]int
	templates  map[*Element]int
	inTemplate bool
	lastRecord int
}

func newWriter() *writer {
	return &writer{bytes: make([]byte, ChunkHead), names: make(map[string]int), templates: make(map[*Element]int)}
}

// mark is a state of the writer to which it can go back.
func (w *writer) mark() writer {
	m := *w
	m.names, m.templates = maps.Clone(w.names), maps.Clone(w.templates)
	return m
}

func (w *writer) back(m writer) {
	m.bytes = w.bytes[:len(m.bytes)]
	*w = m
}

func (w *writer) raw(b []byte) { w.bytes = append(w.bytes, b...) }
func (w *writer) u8(n byte)    { w.bytes = append(w.bytes, n) }
func (w *writer) u16(n uint16) { w.bytes = binary.LittleEndian.AppendUint16(w.bytes, n) }
func (w *writer) u32(n uint32) { w.bytes = binary.LittleEndian.AppendUint32(w.bytes, n) }

// counted writes a text with its length in front.
func (w *writer) counted(s string) {
	b := encode(s)
	w.u16(uint16(len(b) / 2))
	w.raw(b)
}

// hole leaves room for the length of what follows, which fill puts in.
func (w *writer) hole() int {
	w.u32(0)
	return len(w.bytes)
}

func (w *writer) fill(hole int) {
	binary.LittleEndian.PutUint32(w.bytes[hole-4:], uint32(len(w.bytes)-hole))
}

// name writes where a name is, and the name where it is used first.
func (w *writer) name(name string) {
	if at, ok := w.names[name]; ok {
		w.u32(uint32(at))
		return
	}
	at := len(w.bytes) + 4
	w.names[name] = at
	w.u32(uint32(at))
	w.u32(0) // the next one of its hash
	w.u16(hash(name))
	w.counted(name)
	w.u16(0)
}

func hash(name string) uint16 {
	var h uint32
	for _, c := range name {
		h = h*65599 + uint32(c)
	}
	return uint16(h)
}

func (w *writer) fragment(content []Node) {
	w.raw([]byte{0x0f, 1, 1, 0})
	for _, n := range content {
		n.write(w)
	}
	w.u8(0)
}

// instance writes a template with values. The template itself stands where it is used first.
func (w *writer) instance(t *Element, values []Value) {
	within := w.inTemplate
	w.u8(0x0c)
	w.u8(1)
	at, known := w.templates[t]
	if !known {
		at = len(w.bytes) + 8
		w.templates[t] = at
	}
	w.u32(uint32(at)) // its identifier
	w.u32(uint32(at))
	if !known {
		w.u32(0) // the next one of its hash
		w.u32(uint32(at))
		w.raw(make([]byte, 12))
		size := w.hole()
		w.inTemplate = true
		w.fragment([]Node{*t})
		w.inTemplate = within
		w.fill(size)
	}
	w.u32(uint32(len(values)))
	types := len(w.bytes)
	w.raw(make([]byte, 4*len(values)))
	for i, v := range values {
		from := len(w.bytes)
		if v.Nodes != nil {
			w.inTemplate = false
			w.fragment(v.Nodes)
			w.inTemplate = within
		} else {
			w.raw(v.Data)
		}
		binary.LittleEndian.PutUint16(w.bytes[types+4*i:], uint16(len(w.bytes)-from))
		w.bytes[types+4*i+2] = v.Kind
	}
}
