package correlation

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A ghost is a suppression time that outlived its group. There may be as many of
// them as groups: a flood of keys that fire once must not pile them up.

// boundGhosts lets go of ghosts when there are too many, until nine tenths of the
// limit are left: of those whose emission is later than the stream clock, then of those
// whose emission is longest ago.
func (e *Engine) limitTombstones(now int64, o *Outcome) {
	n := e.inUse() - e.live
	if n <= e.maxGroups {
		return
	}
	type ghost struct {
		at     int64
		family int
		slot   uint32
		group  *group
	}
	clock := e.clock.now(now)
	list := make([]ghost, 0, n)
	for i, st := range e.states {
		for slot, g := range st.groups {
			if g == nil || !g.tombstone {
				continue
			}
			at := g.last
			if at > clock {
				at = math.MinInt64
			}
			list = append(list, ghost{at, i, uint32(slot), g})
		}
	}
	slices.SortFunc(list, func(a, b ghost) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.family, b.family), strings.Compare(a.group.key, b.group.key))
	})
	list = list[:n-nineTenths(e.maxGroups)]
	for _, g := range list {
		e.states[g.family].drop(g.slot)
	}
	o.Forgotten += len(list)
}

// inUse returns the number of groups and ghosts.
func (e *Engine) inUse() int {
	n := 0
	for _, st := range e.states {
		n += len(st.groups) - len(st.free)
	}
	return n
}

// nineTenths of n, rounded down.
func nineTenths(n int) int { return n/10*9 + n%10*9/10 }
