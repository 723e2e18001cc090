package load

import (
	"fmt"
	"math/bits"

	"github.com/sluicehq/sluice/sigma/ast"
)

// logsources knows the log sources below each correlation.
type logsources struct {
	different []ast.Logsource
	sets      [][]uint64 // by node of the graph: bits of different; nodes with the same set may share it
	list      []ast.Logsource
	of        *uint64 // what list is of
}

// logsources gathers those of detection rules, as written and as transformed, up the
// graph. A component has one set, and one that adds nothing to what is below it takes
// over that.
func (l *collector) logsources(g *graph) *logsources {
	s := &logsources{}
	if l.opts.TransformCorrelation == nil {
		return s
	}
	numbers := make(map[string]int)
	ofRule := make(map[*draft][2]int)
	for _, d := range l.drafts {
		if d.Rule != nil {
			ofRule[d] = [2]int{s.number(numbers, d.logsourceWritten), s.number(numbers, d.Rule.Logsource)}
		}
	}
	s.sets = make([][]uint64, len(g.out))
	for c := range len(g.start) - 1 {
		set := union{words: (len(s.different) + 63) / 64}
		for _, v := range g.members(c) {
			for _, w := range g.out[v] {
				g.steps++
				set.add(s.sets[w])
			}
			if v < len(g.nodes) {
				continue
			}
			for _, d := range g.names[v-len(g.nodes)].carriers {
				if d.Rule != nil {
					set.set(ofRule[d][0])
					set.set(ofRule[d][1])
				}
			}
		}
		for _, v := range g.members(c) {
			s.sets[v] = set.bits
		}
	}
	return s
}

func (s *logsources) number(numbers map[string]int, l ast.Logsource) int {
	key := fmt.Sprintf("%q", []any{l.Category, l.Product, l.Service, l.Definition, l.Custom})
	n, known := numbers[key]
	if !known {
		n = len(s.different)
		numbers[key] = n
		s.different = append(s.different, l)
	}
	return n
}

// below returns the log sources below a correlation, each once. The list is good until
// the next call.
func (s *logsources) below(i int) []ast.Logsource {
	if s.sets == nil || s.sets[i] == nil {
		return nil
	}
	if set := s.sets[i]; s.of != &set[0] {
		s.of, s.list = &set[0], s.list[:0]
		for at, word := range set {
			for ; word != 0; word &= word - 1 {
				s.list = append(s.list, s.different[at*64+bits.TrailingZeros64(word)])
			}
		}
	}
	return s.list
}

// union is a growing set, which shares the first set added to it until it differs.
type union struct {
	bits  []uint64
	words int
	own   bool
}

func (u *union) add(bits []uint64) {
	if len(bits) == 0 || len(u.bits) > 0 && &bits[0] == &u.bits[0] {
		return
	}
	if u.bits == nil {
		u.bits = bits
		return
	}
	for at, word := range bits {
		if u.bits[at]&word != word {
			u.alter()
			u.bits[at] |= word
		}
	}
}

func (u *union) set(n int) {
	if u.bits == nil || u.bits[n/64]&(1<<(n%64)) == 0 {
		u.alter()
		u.bits[n/64] |= 1 << (n % 64)
	}
}

func (u *union) alter() {
	if !u.own {
		before := u.bits
		u.bits, u.own = make([]uint64, u.words), true
		copy(u.bits, before)
	}
}
