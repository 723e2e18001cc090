// Package evtxtest makes files of the Windows event log, for tests of what reads them.
package evtxtest

// Node is a piece of the content of an element or of an attribute.
type Node interface{ write(w *writer) }

// Element is an element of a record.
type Element struct {
	Name     string
	Attrs    []Attr
	Children []Node
}

// Attr is an attribute.
type Attr struct {
	Name  string
	Value []Node
}

// Text is text as it stands in the template.
type Text string

// CData is text in a section of its own.
type CData string

// Char is a character by its number.
type Char uint16

// Entity is a reference such as amp.
type Entity string

// Sub is put in from the values of the record: the one with that number. An optional one
// leaves nothing when it is null.
type Sub struct {
	Number   uint16
	Optional bool
}

// Literal is a value of any type as it stands in the template.
type Literal Value

// Instance is a template with values, in the content of a fragment or of another template.
type Instance struct {
	Template *Element
	Values   []Value
}

// Put makes an instance of a template.
func Put(t *Element, values ...Value) Instance { return Instance{t, values} }

// El makes an element without attributes.
func El(name string, children ...Node) Element { return Element{Name: name, Children: children} }

// With returns the element with one more attribute.
func (e Element) With(name string, value ...Node) Element {
	e.Attrs = append(e.Attrs[:len(e.Attrs):len(e.Attrs)], Attr{name, value})
	return e
}

func (e Element) write(w *writer) {
	token := byte(0x01)
	if len(e.Attrs) > 0 {
		token |= 0x40
	}
	w.u8(token)
	if w.inTemplate {
		w.u16(0xffff)
	}
	size := w.hole()
	w.name(e.Name)
	if len(e.Attrs) > 0 {
		attrs := w.hole()
		for i, a := range e.Attrs {
			token := byte(0x06)
			if i < len(e.Attrs)-1 {
				token |= 0x40
			}
			w.u8(token)
			w.name(a.Name)
			for _, n := range a.Value {
				n.write(w)
			}
		}
		w.fill(attrs)
	}
	if len(e.Children) == 0 {
		w.u8(0x03)
	} else {
		w.u8(0x02)
		for _, n := range e.Children {
			n.write(w)
		}
		w.u8(0x04)
	}
	w.fill(size)
}

func (t Text) write(w *writer) {
	w.u8(0x05)
	w.u8(0x01)
	w.counted(string(t))
}

func (c CData) write(w *writer) {
	w.u8(0x07)
	w.counted(string(c))
}

func (c Char) write(w *writer) {
	w.u8(0x08)
	w.u16(uint16(c))
}

func (e Entity) write(w *writer) {
	w.u8(0x09)
	w.name(string(e))
}

func (s Sub) write(w *writer) {
	token := byte(0x0d)
	if s.Optional {
		token = 0x0e
	}
	w.u8(token)
	w.u16(s.Number)
	w.u8(0x01)
}

func (l Literal) write(w *writer) {
	w.u8(0x05)
	w.u8(l.Kind)
	if l.Counted {
		w.u16(uint16(len(l.Data)))
	}
	w.raw(l.Data)
}

func (i Instance) write(w *writer) { w.instance(i.Template, i.Values) }
