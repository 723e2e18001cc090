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
	hash  uint32
	size  uint8
	short [shortText]byte
}

const shortText = 15

func newText(b []byte) *text {
	t := new(text)
	t.set(b, Hash(b))
	return t
}

func (t *text) set(b []byte, hash uint32) {
	t.hash = hash
	if len(b) <= shortText {
		t.size = uint8(copy(t.short[:], b))
	} else {
		long := slices.Clone(b)
		t.long = &long
	}
}

func (t *text) bytes() []byte {
	if t.long != nil {
		return *t.long
	}
	return t.short[:t.size]
}

func (t *text) is(b []byte, hash uint32) bool { return t.hash == hash && bytes.Equal(t.bytes(), b) }

// seed differs from process to process: nobody outside can choose texts that
// clash.
var seed = maphash.MakeSeed()

// Hash returns the hash of a text as Contribution carries it, the same throughout
// the process.
func Hash(text []byte) uint32 { return uint32(maphash.Bytes(seed, text)) }

// textSet holds the distinct texts of a window: a few in a list, more in a table.
// No other window sees its memory, but their texts stay with the entries.
type textSet struct {
	few   []*text
	many  *textTable // when they are not few
	fresh []text     // memory for the next
}

// The bounds of a list. A table goes back to a list when it has shrunk well below
// that.
const maxFew = 8

// maxFresh bounds how many texts get their memory together: all of it stays as
// long as one of them does.
const maxFresh = 8

func (s *textSet) len() int {
	if s.many != nil {
		return s.many.n
	}
	return len(s.few)
}

// find returns the text b with its hash, nil when the set does not have it.
func (s *textSet) find(b []byte, hash uint32) *text {
	if s.many != nil {
		return s.many.find(b, hash)
	}
	for _, t := range s.few {
		if t.is(b, hash) {
			return t
		}
	}
	return nil
}

// intern returns the text b, which is added when the set does not have it.
func (s *textSet) intern(b []byte, hash uint32) *text {
	t := s.find(b, hash)
	if t == nil {
		t = s.make()
		t.set(b, hash)
		s.add(t)
	}
	return t
}

// make returns memory for a text. The more there are, the more come at once.
func (s *textSet) make() *text {
	if len(s.fresh) == 0 {
		s.fresh = make([]text, min(1+s.len(), maxFresh))
	}
	t := &s.fresh[0]
	s.fresh = s.fresh[1:]
	return t
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
		s.few = slices.DeleteFunc(s.few, func(x *text) bool { return x == t })
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

// clear removes all texts. A small set keeps its memory: what was cleared by an
// action fills up again.
func (s *textSet) clear() {
	switch {
	case s.many == nil:
		clear(s.few)
		s.few = s.few[:0]
	case len(s.many.cells) <= 8*maxFew:
		clear(s.many.cells)
		s.many.n = 0
	default:
		s.many = nil
	}
}
