package correlation

import (
	"iter"
	"slices"
	"sort"
	"sync/atomic"
)

// Order is the order of the groups that a view has, in eight bytes for each. An Engine
// finds one piece of it after the other, without looking at the other groups. What came
// after the view is not in it.
type Order struct {
	layout *layout
	ends   []int // by correlation: where its groups end
	groups atomic.Pointer[[]numbered]
}

// layout stays the same as long as groups keep their slots.
type layout struct{ _ byte }

// numbered is the group in a slot, if that still has the number.
type numbered struct{ slot, number uint32 }

// Order sorts the groups that pass the filter's ID, Group and After.
func (v *View) Order(filter Filter) *Order {
	o := &Order{layout: v.layout, ends: make([]int, len(v.states))}
	groups := []numbered{}
	for i := range v.states {
		if st := &v.states[i]; filter.reaches(i, st.c) {
			groups = st.order(groups, i, &filter)
		}
		o.ends[i] = len(groups)
	}
	o.groups.Store(&groups)
	return o
}

// order appends the groups that pass the filter, sorted.
func (st *stateView) order(dst []numbered, state int, filter *Filter) []numbered {
	from := len(dst)
	all := filter.Group == "" && (filter.After == nil || filter.After.state < state)
	if all {
		dst = slices.Grow(dst, st.live)
	}
	for slot, g := range st.groups {
		if g == nil || g.tombstone || !all && !filter.passes(&Place{state: state, display: st.c.Display(g.key), key: g.key}) {
			continue
		}
		dst = append(dst, numbered{uint32(slot), g.number})
	}
	slices.SortFunc(dst[from:], func(a, b numbered) int {
		return st.c.Compare(st.groups[a.slot].key, st.groups[b.slot].key)
	})
	return dst
}

// Drop gives the memory of the order back. It has no pages any more.
func (o *Order) Drop() { o.groups.Store(nil) }

// Dropped reports whether the order has no pages any more.
func (o *Order) Dropped() bool { return o.groups.Load() == nil }

// Page is a piece of an order: its groups as they were at one moment.
type Page struct {
	Next int // place in the order behind the page
	Last bool

	first  int // correlation of states[0]
	states []stateView
	hits   []hit
}

// Page returns what is still there of the groups that stand at n places of an order,
// from being the first. It shares them until they change, as Export does. It returns nil
// when the order was dropped, or groups have got other slots since.
func (e *Engine) Page(o *Order, from, n int) *Page {
	groups := o.groups.Load()
	if groups == nil || o.layout != e.layout {
		return nil
	}
	all := *groups
	to := from + min(n, len(all)-from)
	p := &Page{Next: to, Last: to == len(all), first: sort.SearchInts(o.ends, from+1), hits: make([]hit, 0, to-from)}
	for i := p.first; from < to; i++ {
		st := e.states[i]
		p.states = append(p.states, stateView{c: st.c, sweeps: st.sweeps, cutoff: st.cutoff})
		for ; from < min(to, o.ends[i]); from++ {
			g := st.groups[all[from].slot]
			if g == nil || g.number != all[from].number || g.tombstone {
				continue
			}
			if g.exported == e.exports {
				g.exported--
			}
			p.hits = append(p.hits, hit{Place{state: i, key: g.key, order: o, next: from + 1}, g})
		}
	}
	return p
}

// Len is the number of groups.
func (p *Page) Len() int { return len(p.hits) }

// Each gives the groups one after another, in their order.
func (p *Page) Each(filter Filter) iter.Seq[GroupEntry] {
	return func(yield func(GroupEntry) bool) {
		for _, h := range p.hits {
			st := &p.states[h.state-p.first]
			h.display = st.c.Display(h.key)
			if !yield(st.entry(&h, !filter.NoWindow)) {
				return
			}
		}
	}
}
