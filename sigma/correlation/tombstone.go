package correlation

import (
	"cmp"
	"slices"
	"strings"
)

// A tombstone is what is left of a group that was removed while it suppressed
// results. The limits also limit tombstones, because a flood of keys that each fire
// once would make one each.

// limitTombstones removes tombstones when there are more than groups may be or when
// they take a tenth of the bytes, until nine tenths of that are left: first those whose emission is far-future, those whose event came
// first before the others, then those whose emission is oldest.
func (e *Engine) limitTombstones(o *Outcome) {
	n := e.inUse() - e.live
	bytes := e.limits.buried()
	if n <= e.limits.Groups && e.buried <= bytes {
		return
	}
	type tombstone struct {
		order int
		at    int64
		state int
		slot  uint32
		group *group
	}
	list := make([]tombstone, 0, n)
	for i, st := range e.states {
		for slot, g := range st.groups {
			if g == nil || !g.tombstone {
				continue
			}
			t := tombstone{1, g.last, i, uint32(slot), g}
			if g.lastFuture {
				t.order, t.at = 0, g.extra.arrival
			}
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b tombstone) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.at, b.at), cmp.Compare(a.state, b.state), strings.Compare(a.group.key, b.group.key))
	})
	groups := e.limits.Groups
	if n > groups {
		groups = nineTenths(groups)
	}
	if e.buried > bytes {
		bytes = nineTenths(bytes)
	}
	for _, g := range list {
		if n <= groups && e.buried <= bytes {
			return
		}
		e.drop(e.states[g.state], g.slot)
		n--
		o.Forgotten++
	}
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
