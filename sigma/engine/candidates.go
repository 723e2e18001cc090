package engine

import (
	"math/bits"

	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
)

// candidates is the set of rules to evaluate for the current event. Most words are
// zero, so a second level says which are not.
type candidates struct {
	words  []uint64
	filled []uint64 // bit n: words[n] may have members
	always []uint32
}

func (l *candidates) init(s *Set) {
	l.words = make([]uint64, (len(s.handles)+63)/64+(len(s.plan.Groups)+63)/64)
	l.filled = make([]uint64, (len(l.words)+63)/64)
	l.always = s.plan.Always
}

// clear removes all but the rules that are always evaluated.
func (l *candidates) clear() {
	for i, f := range l.filled {
		for ; f != 0; f &= f - 1 {
			l.words[i*64+bits.TrailingZeros64(f)] = 0
		}
		l.filled[i] = 0
	}
	for _, rule := range l.always {
		l.add(rule)
	}
}

func (l *candidates) add(rule uint32) {
	word := rule / 64
	l.words[word] |= 1 << (rule % 64)
	l.filled[word/64] |= 1 << (word % 64)
}

// expand adds the rules of the groups among the candidates, and removes the groups.
func (l *candidates) expand(p *compile.Plan) {
	for word := int(p.FirstGroup / 64); word < len(l.words); word++ {
		for set := l.words[word]; set != 0; set &= set - 1 {
			for _, rule := range p.Groups[(word-int(p.FirstGroup/64))*64+bits.TrailingZeros64(set)] {
				l.add(rule)
			}
		}
		l.words[word] = 0
		l.filled[word/64] &^= 1 << (word % 64)
	}
}

// rules yields the load indexes in ascending order, except those in except, which
// may be nil.
func (l *candidates) rules(except []uint64, yield func(uint32)) {
	for i, f := range l.filled {
		for ; f != 0; f &= f - 1 {
			word := i*64 + bits.TrailingZeros64(f)
			set := l.words[word]
			if except != nil {
				set &^= except[word]
			}
			for ; set != 0; set &= set - 1 {
				yield(uint32(word*64 + bits.TrailingZeros64(set)))
			}
		}
	}
}
