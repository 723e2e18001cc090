package scan

import (
	"errors"

	"github.com/sluicehq/sluice/sigma/event"
)

// Limits on the nesting of lines.
const (
	MaxDepth     = 128 // containers within each other
	KeywordDepth = 63  // containers around a string that keywords still find
)

// ErrSyntax says that a line is not one JSON value, or nested too deeply.
var ErrSyntax = errors.New("not a JSON value")

// Scanner turns lines into cells. It belongs to one goroutine.
type Scanner struct {
	table *Table
	keys  memory

	// The line at hand.
	line     []byte
	cells    []Cell
	limit    int  // containers within each other that the value may have
	sharing  bool // a cell since the last settle may have to give way
	rank     []uint16
	inArrays int // arrays of a terminal around the value
}

// NewScanner returns a scanner of lines for the table.
func NewScanner(t *Table) *Scanner {
	return &Scanner{table: t, keys: newMemory(), rank: make([]uint16, t.Fields())}
}

// Value appends the cells of the value that b begins with, inside a number of
// containers, to dst, and returns where the value ends. On an error nothing is
// appended.
func (s *Scanner) Value(dst []Cell, b []byte, inside int) ([]Cell, int, error) {
	if len(b) == 0 {
		return dst, 0, ErrSyntax
	}
	s.line, s.cells, s.sharing, s.inArrays, s.limit = b, dst, false, 0, MaxDepth-inside
	var end int
	switch b[0] {
	case '{':
		end = s.object(0, root, 1, &s.keys.first)
		s.settle(len(dst), 0)
	case '[':
		end = s.rootArray(0, len(dst))
	default:
		end = s.value(0, nowhere, 0, nil)
	}
	cells := s.cells
	s.line, s.cells = nil, nil
	if end < 0 {
		return dst, 0, ErrSyntax
	}
	return cells, end, nil
}

// rootArray reads an event that is an array: every element that is an object is
// asked for the fields on its own. Of the paths of a field the first that some element
// has counts for all.
func (s *Scanner) rootArray(i, from int) int {
	first, sharing := from, false
	end := s.elements(i, 1, func(i int) int {
		if s.line[i] != '{' {
			return s.value(i, nowhere, 1, nil)
		}
		end := s.object(i, root, 2, &s.keys.first)
		sharing = sharing || s.sharing
		s.settle(from, 0)
		from = len(s.cells)
		return end
	})
	s.sharing = sharing
	s.settle(first, 1)
	return end
}

// value reads the value at i, which node stands for, inside depth containers.
func (s *Scanner) value(i int, at int32, depth int, k *key) int {
	if i >= len(s.line) {
		return -1
	}
	switch c := s.line[i]; c {
	case '"':
		end, flags := scanString(s.line, i)
		if end < 0 {
			return -1
		}
		if s.table.Keywords && depth <= KeywordDepth {
			flags |= Keyword
		}
		s.emit(i, end, at, event.String, flags|Terminal)
		return end
	case '{':
		s.emit(i, i, at, event.Object, Terminal)
		first := &s.keys.nowhere
		if k != nil {
			first = &k.first
		}
		mark := len(s.cells)
		end := s.object(i, at, depth+1, first)
		s.close(at, i, end, mark, event.Object)
		return end
	case '[':
		s.emit(i, i, at, event.Array, Terminal)
		mark := len(s.cells)
		end := s.array(i, at, depth+1, k)
		s.close(at, i, end, mark, event.Array)
		return end
	case 't':
		return s.literal(i, "true", at, event.True)
	case 'f':
		return s.literal(i, "false", at, event.False)
	case 'n':
		return s.literal(i, "null", at, event.Null)
	default:
		end := scanNumber(s.line, i)
		if end >= 0 {
			s.emit(i, end, at, event.Number, Terminal)
		}
		return end
	}
}

func (s *Scanner) literal(i int, want string, at int32, t event.Type) int {
	end := i + len(want)
	if end > len(s.line) || string(s.line[i:end]) != want {
		return -1
	}
	s.emit(i, end, at, t, Terminal)
	return end
}

// emit lists a value for every field that its node leads to, or for keywords.
func (s *Scanner) emit(i, end int, at int32, t event.Type, flags Flags) {
	if at != nowhere {
		for _, g := range s.table.nodes[at].targets {
			if t == event.Object && g.textInside {
				continue
			}
			f := flags
			if s.inArrays > 0 {
				if t >= event.Array && t != event.Text || t == event.Null {
					continue
				}
				f &^= Terminal
			}
			if g.shared {
				f |= Shared
				s.sharing = true
			}
			s.cells = append(s.cells, Cell{uint32(i), uint32(end), g.field, g.rank, t, f})
			flags &^= Keyword
		}
	}
	if flags&Keyword != 0 {
		s.cells = append(s.cells, Cell{uint32(i), uint32(end), 0, 0, t, flags &^ Terminal})
	}
}

// close sets the end of the container cells listed just before mark.
func (s *Scanner) close(at int32, i, end, mark int, t event.Type) {
	if at == nowhere || end < 0 {
		return
	}
	for n := mark - 1; n >= 0; n-- {
		c := &s.cells[n]
		if c.Start != uint32(i) || c.Type != t || c.End != uint32(i) {
			return
		}
		c.End = uint32(end)
	}
}

// object reads the object at i. Next is where the key seen first in such an
// object is remembered.
func (s *Scanner) object(i int, at int32, depth int, next **key) int {
	if depth > s.limit {
		return -1
	}
	arrays := s.inArrays
	s.inArrays = 0
	var keyword Flags
	if s.table.Keywords && depth <= KeywordDepth {
		keyword = Keyword
	}
	b := s.line
	i = SkipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		s.inArrays = arrays
		return i + 1
	}
	for {
		k := *next
		var child int32
		if k != nil && k.parent == at && k.begins(b, i) && k.goesOn(b, i) {
			child, i = k.node, i+len(k.spelled)
		} else if k, child, i = s.key(i, at, next); i < 0 {
			return -1
		}
		if i < len(b) && b[i] <= ' ' {
			i = SkipSpace(b, i)
		}
		if k != nil && k.lone && i < len(b) && b[i] == '"' { // most values
			end, flags := scanString(b, i)
			if flags |= keyword | k.flags; end >= 0 && flags&(Keyword|Terminal) != 0 {
				s.cells = append(s.cells, Cell{uint32(i), uint32(end), k.field, k.rank, event.String, flags})
			}
			i = end
		} else {
			i = s.value(i, child, depth, k)
		}
		if k != nil {
			next = &k.next
		}
		if uint(i) < uint(len(b)) && b[i] <= ' ' {
			i = SkipSpace(b, i)
		}
		if uint(i) >= uint(len(b)) {
			return -1
		}
		switch b[i] {
		case '}':
			s.inArrays = arrays
			return i + 1
		case ',':
			i++
			if i < len(b) && b[i] <= ' ' {
				i = SkipSpace(b, i)
			}
		default:
			return -1
		}
	}
}

// array reads the array at i, whose elements the node still stands for.
func (s *Scanner) array(i int, at int32, depth int, k *key) int {
	s.inArrays++
	end := s.elements(i, depth, func(i int) int { return s.value(i, at, depth, k) })
	s.inArrays--
	return end
}

func (s *Scanner) elements(i, depth int, element func(int) int) int {
	if depth > s.limit {
		return -1
	}
	b := s.line
	i = SkipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1
	}
	for i < len(b) {
		if i = element(i); i < 0 {
			return -1
		}
		i = SkipSpace(b, i)
		if i >= len(b) {
			return -1
		}
		switch b[i] {
		case ']':
			return i + 1
		case ',':
			i = SkipSpace(b, i+1)
		default:
			return -1
		}
	}
	return -1
}

// settle drops, among the cells from number from on, those of a field that was
// found in a better way. Shifted by one, a rank tells paths apart and not the ways to
// follow one.
func (s *Scanner) settle(from int, shift uint) {
	if !s.sharing {
		return
	}
	s.sharing = false
	cells := s.cells[from:]
	for i := range cells {
		s.rank[cells[i].Field] = ^uint16(0)
	}
	for i := range cells {
		c := &cells[i]
		s.rank[c.Field] = min(s.rank[c.Field], c.Rank>>shift)
	}
	kept := cells[:0]
	for _, c := range cells {
		if c.Field != 0 && c.Rank>>shift > s.rank[c.Field] {
			if c.Flags&Keyword == 0 {
				continue
			}
			c.Field, c.Flags = 0, c.Flags&^(Terminal|Shared)
		}
		kept = append(kept, c)
	}
	s.cells = s.cells[:from+len(kept)]
}
