package kafka

import (
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/state"
)

// remembered is how many delivered positions of a partition its ledger keeps: what is
// committed does not come again, so they are few.
const remembered = 4096

// restored is what the state that came back says.
type restored struct {
	positions []state.Position
	covered   []state.Covered
}

// Positions are the ledgers of all partitions.
func (s *Source) Positions() sources.Positions { return positions{s} }

type positions struct{ s *Source }

// Restore takes over what the head of a save says.
func (p positions) Restore(at []state.Position, covered []state.Covered) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.restored = restored{at, covered}
	for _, c := range covered {
		if number, ok := p.s.numberOf(c.Stream); ok && c.Consumer == p.s.o.Group {
			p.s.partition(number)
		}
	}
}

// Early receives when a save should begin before its time.
func (p positions) Early() <-chan struct{} { return p.s.early }

// ledgers are those of partitions that are or were ours.
func (p positions) ledgers() (all []*sources.Ledger[struct{}]) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	for _, part := range p.s.parts {
		all = append(all, part.ledger)
	}
	return all
}

// Cover returns what the head of a save says of each partition.
func (p positions) Cover(epoch uint64) (at []state.Position, covered []state.Covered) {
	for _, l := range p.ledgers() {
		a, c := l.Cover(epoch)
		at, covered = append(at, a...), append(covered, c...)
	}
	return at, covered
}

// Saved says that the save whose barrier ended the epoch is complete.
func (p positions) Saved(epoch uint64) {
	for _, l := range p.ledgers() {
		l.Saved(epoch)
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.asked = false
	_, counts := p.s.offsets()
	waiting := p.s.pending
	for _, n := range counts {
		waiting -= n
	}
	p.s.ask(waiting)
}

// Unreleased is the number of messages that parse has taken and that have not ended.
func (p positions) Unreleased() (n int) {
	for _, l := range p.ledgers() {
		n += l.Unreleased()
	}
	return n
}
