package window

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// text is one distinct text. Its entries share it; only the window it belongs to
// looks at the number of references. Short texts, which most are, live in the
// same cache line as their number.
type text struct {
	long  *[]byte // nil when short
	refs  uint32
	size  uint8
	short [shortText]byte
}

const shortText = 19

func newText(b []byte) *text {
	t := new(text)
	if len(b) <= shortText {
		t.size = uint8(copy(t.short[:], b))
	} else {
		long := slices.Clone(b)
		t.long = &long
	}
	return t
}

func (t *text) bytes() []byte {
	if t.long != nil {
		return *t.long
	}
	return t.short[:t.size]
}

func (t *text) is(b []byte) bool { return bytes.Equal(t.bytes(), b) }

// textSet finds texts. The zero value is empty.
type textSet struct {
	few  []*text    // all of them while they are few
	many *textTable // nil while they are few
}

// maxFew texts are searched one by one, which is cheaper than a map, above all in
// memory. A map goes back to a list when it has shrunk well below that.
const maxFew = 8

// textSeed differs from process to process: nobody outside can choose texts that
// clash.
var textSeed = maphash.MakeSeed()

func (s *textSet) len() int {
	if s.many != nil {
		return s.many.n
	}
	return len(s.few)
}

func (s *textSet) find(b []byte) *text {
	if s.many == nil {
		return search(s.few, b)
	}
	return s.many.find(b)
}

func search(list []*text, b []byte) *text {
	for _, t := range list {
		if t.is(b) {
			return t
		}
	}
	return nil
}

// add enters a text that is not in the set.
func (s *textSet) add(t *text) {
	if s.many == nil && len(s.few) < maxFew {
		s.few = append(s.few, t)
		return
	}
	if s.many == nil {
		s.many = new(textTable)
		for _, f := range s.few {
			s.many.add(f)
		}
		s.few = nil
	}
	s.many.add(t)
}

// remove takes out a text of the set.
func (s *textSet) remove(t *text) {
	if s.many == nil {
		s.few = without(s.few, t)
		return
	}
	s.many.remove(t)
	if s.len() > maxFew/4 {
		return
	}
	for _, c := range s.many.cells {
		if c.text != nil {
			s.few = append(s.few, c.text)
		}
	}
	s.many = nil
}

func without(list []*text, t *text) []*text {
	return slices.DeleteFunc(list, func(x *text) bool { return x == t })
}
