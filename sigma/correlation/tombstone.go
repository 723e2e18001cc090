package correlation

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A tombstone is what is left of a group that was removed while it suppressed
// results. The limit on groups also limits tombstones, because a flood of keys that
// each fire once would make one each.

// limitTombstones removes tombstones when there are too many, until nine tenths of
// the limit are left: first those whose emission is later than the stream clock, then
// those whose emission is oldest.
func (e *Engine) limitTombstones(now int64, o *Outcome) {
	n := e.inUse() - e.live
	if n <= e.maxGroups {
		return
	}
	type tombstone struct {
		at    int64
		state int
		slot  uint32
		group *group
	}
	clock := e.clock.now(now)
	list := make([]tombstone, 0, n)
	for i, st := range e.states {
		for slot, g := range st.groups {
			if g == nil || !g.tombstone {
				continue
			}
			at := g.last
			if at > clock {
				at = math.MinInt64
			}
			list = append(list, tombstone{at, i, uint32(slot), g})
		}
	}
	slices.SortFunc(list, func(a, b tombstone) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.state, b.state), strings.Compare(a.group.key, b.group.key))
	})
	list = list[:n-nineTenths(e.maxGroups)]
	for _, g := range list {
		e.states[g.state].drop(g.slot)
	}
	o.Forgotten += len(list)
}

// inUse returns the number of groups and tombstones.
func (e *Engine) inUse() int {
	n := 0
	for _, st := range e.states {
		n += len(st.groups) - len(st.free)
	}
	return n
}

// nineTenths of n, rounded down.
func nineTenths(n int) int { return n/10*9 + n%10*9/10 }
