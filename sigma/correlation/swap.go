package correlation

import (
	"slices"

	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
)

// Dropped is state that was not carried over, of one correlation.
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

// Swap puts another plan in force, between two events. Groups stay with the
// correlation of the same stable id when its shape is equal; everything else the
// new plan says applies from the next match on.
func (e *Engine) Swap(p *program.Program, now int64) []Dropped {
	owners := p.Owners()
	families := make([]*family, p.Len())
	var dropped []Dropped
	for _, f := range e.families {
		reason := Removed
		if i, ok := owners[f.c.Stable]; ok {
			if families[i] == nil && p.At(i).Shape == f.c.Shape {
				families[i] = f
				e.carry(f, p.At(i), now)
				continue
			}
			if reason = ShapeChanged; families[i] != nil {
				reason = SharedID
			}
		}
		if f.live > 0 {
			dropped = append(dropped, Dropped{f.c.Stable, reason, f.live})
		}
		e.live -= f.live
		*f = family{c: f.c, gone: true} // timers hold it for a while
	}
	for i := range families {
		if families[i] == nil {
			families[i] = newFamily(p.At(i))
		}
	}
	e.plan, e.families = p, families
	e.revision++
	e.pruneTimers()
	return dropped
}

// carry gives the state of f to c.
func (e *Engine) carry(f *family, c *program.Correlation, now int64) {
	old := f.c
	f.c, f.void = c, c.NewWindow()
	remap := c.Source.Type.Temporal() && !slices.Equal(old.Members, c.Members)
	from := memberMap(old.Members, c.Members)
	retime := old.Horizon != c.Horizon || old.Suppress != c.Suppress
	for i := range f.groups {
		slot := uint32(i)
		if f.groups[slot] == nil {
			continue
		}
		if old.Events != c.Events && f.groups[slot].buffer != nil {
			e.own(f, slot).buffer = nil
		}
		if remap {
			g := e.own(f, slot)
			g.window = g.window.(*window.Hits).Pick(from)
			if !g.ghost {
				f.ages.Lower(slot, g.age())
			}
		}
		if retime {
			e.resetAlarm(f, slot, e.own(f, slot), now+1)
		}
	}
}

// memberMap tells for each new member which old one it was, or -1.
func memberMap(old, now []string) []int {
	from := make([]int, len(now))
	for i, id := range now {
		from[i] = slices.Index(old, id)
	}
	return from
}
