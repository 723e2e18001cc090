package correlation

import (
	"slices"

	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
)

// Dropped is the state of one correlation that was not kept.
type Dropped struct {
	Correlation string // its stable id: id, else name, else title
	Reason      string
	Groups      int
}

// The reasons for dropping state.
const (
	Removed      = "removed"       // no correlation has this stable id any more
	ShapeChanged = "shape_changed" // type, group-by, aliases or fields are others
	SharedID     = "shared_id"     // an earlier correlation has the same stable id
)

// Swap replaces the program, between two events. A correlation keeps its groups when
// the new program has one of the same stable id and shape; all other changes apply
// from the next match on.
func (e *Engine) Swap(p *program.Program, now int64) []Dropped {
	owners := p.Owners()
	states := make([]*correlationState, p.Len())
	var dropped []Dropped
	for _, st := range e.states {
		reason := Removed
		if i, ok := owners[st.c.Stable]; ok {
			if states[i] == nil && p.At(i).Shape == st.c.Shape {
				states[i] = st
				e.carry(st, p.At(i), now)
				continue
			}
			if reason = ShapeChanged; states[i] != nil {
				reason = SharedID
			}
		}
		if st.live > 0 {
			dropped = append(dropped, Dropped{st.c.Stable, reason, st.live})
		}
		for _, g := range st.groups {
			if g == nil {
				continue
			}
			e.bytes -= g.bytes
			if g.tombstone {
				e.buried -= g.bytes
			}
		}
		e.live -= st.live
		*st = correlationState{c: st.c, removed: true} // timers refer to it for a while
	}
	for i := range states {
		if states[i] == nil {
			states[i] = newCorrelationState(p.At(i))
		}
	}
	e.program, e.states, e.layout = p, states, new(layout)
	e.revision++
	e.pruneTimers()
	return dropped
}

// carry makes c the correlation of st.
func (e *Engine) carry(st *correlationState, c *program.Correlation, now int64) {
	old := st.c
	st.use(c)
	remap := c.Source.Type.Temporal() && !slices.Equal(old.Members, c.Members)
	from := memberMap(old.Members, c.Members)
	retime := old.Horizon != c.Horizon || old.Suppress != c.Suppress
	for i := range st.groups {
		slot := uint32(i)
		if st.groups[slot] == nil {
			continue
		}
		if old.Events != c.Events && st.groups[slot].buffer() != nil {
			e.writable(st, slot).extra.buffer = nil
			e.reweigh(st.groups[slot])
		}
		if remap {
			g := e.writable(st, slot)
			g.window = g.window.(*window.Hits).Pick(from)
			if !g.tombstone {
				st.ages.Lower(slot, g.age())
				e.reweigh(g)
			}
		}
		if retime {
			e.resetAlarm(st, slot, e.writable(st, slot), now+1)
		}
	}
}

// reweigh brings what g takes up to date.
func (e *Engine) reweigh(g *group) {
	e.bytes -= g.bytes
	g.bytes = g.weight()
	e.bytes += g.bytes
}

// memberMap returns the old index of each new member, -1 for none.
func memberMap(old, now []string) []int {
	from := make([]int, len(now))
	for i, id := range now {
		from[i] = slices.Index(old, id)
	}
	return from
}
