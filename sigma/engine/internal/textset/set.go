package textset

import "bytes"

// Set is a set of texts. It keeps them, and belongs to one goroutine.
type Set struct {
	texts [][]byte
	exact map[string]struct{} // nil until the first whole text is looked up
	tree  *tree               // nil until a part of a text is
}

// New returns a set of texts, which must not change.
func New(texts [][]byte) *Set { return &Set{texts: texts} }

// Texts are the texts of the set.
func (s *Set) Texts() [][]byte { return s.texts }

// few is how many texts are compared one by one.
const few = 4

// Where says which part of a text is compared.
type Where struct{ Start, End bool } // neither: any part, both: all of it

// Finder compares texts with sets. It belongs to one goroutine.
type Finder struct {
	Steps uint64 // bytes looked at since the beginning

	from, to positions
	met      []met // in the word of positions at work
	walks    []int // where each of its positions begins in met
}

// Match reports whether what the row stands for is the whole, the beginning, the end or
// a part of text. The row is not empty.
func (f *Finder) Match(text []byte, row []*Set, at Where) bool {
	if len(row) > 1 {
		return f.matchRow(text, row, at)
	}
	s := row[0]
	if len(s.texts) <= few {
		for _, t := range s.texts {
			if f.compare(text, t, at) {
				return true
			}
		}
		return false
	}
	if at.Start && at.End {
		if s.exact == nil {
			s.exact = make(map[string]struct{}, len(s.texts))
			for _, t := range s.texts {
				s.exact[string(t)] = struct{}{}
			}
			f.Steps += uint64(len(s.texts))
		}
		f.Steps++
		_, ok := s.exact[string(text)]
		return ok
	}
	t := f.treeOf(s)
	switch {
	case t.ends[root]:
		return true
	case at.Start:
		return t.prefixes(f, text, func(int) bool { return true })
	}
	return t.scan(f, text, func(node int32, end int) bool {
		return (!at.End || end == len(text)) && t.last(node) != root
	})
}

// kept is how many words of scratch memory of each kind a finder keeps.
const kept = 4096

// Rest gives back scratch memory that only long texts need.
func (f *Finder) Rest() {
	if cap(f.from.bits) > kept || cap(f.to.bits) > kept || cap(f.met) > kept {
		*f = Finder{Steps: f.Steps}
	}
}

func (f *Finder) compare(text, t []byte, at Where) bool {
	f.Steps += 1 + uint64(min(len(text), len(t)))
	switch {
	case at.Start && at.End:
		return bytes.Equal(text, t)
	case at.Start:
		return bytes.HasPrefix(text, t)
	case at.End:
		return bytes.HasSuffix(text, t)
	}
	f.Steps += uint64(len(text))
	return bytes.Contains(text, t)
}

// treeOf returns the tree of a set.
func (f *Finder) treeOf(s *Set) *tree {
	if s.tree == nil {
		s.tree = newTree(f, s.texts)
	}
	return s.tree
}
