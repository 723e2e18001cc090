package load

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/sluicehq/sluice/sigma/load/internal/check"
)

// times is a heap of times. Rejection goes through the correlations in rounds, in load
// order in each: the time of a rejection is the round, times the number of
// correlations, and the number of the correlation.
type times []int

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(int)) }
func (t *times) Pop() any {
	last := len(*t) - 1
	x := (*t)[last]
	*t = (*t)[:last]
	return x
}

// rejections are the rejected carriers of a name, in the order in which they were
// rejected: so many as are told.
type rejections struct {
	circling []int // those on a cycle with the name, of which others on it need not tell
	other    []int
}

// propagate rejects what refers to a rejected correlation, and what refers to
// that. Members of one cycle have told their reason already.
func (g *graph) propagate() {
	n := len(g.nodes)
	when := make([]int, n) // it was rejected
	rejected := make([]rejections, len(g.names))
	var queue times
	for i, d := range g.nodes {
		if when[i] = -1; !d.usable() {
			when[i] = i
			queue = append(queue, i) // ascending, so it is a heap
		}
	}
	// seen returns the round in which d, in its turn, finds t rejected.
	seen := func(d, t int) int {
		if round := when[t] / n; round > 0 && t < d {
			return round
		}
		return when[t]/n + 1
	}
	for len(queue) > 0 {
		t := heap.Pop(&queue).(int) % n
		if g.nodes[t].state != pending {
			continue
		}
		for _, x := range g.in[t] {
			g.steps++
			r := &rejected[x-n]
			list := &r.other
			if g.component[x] == g.component[t] {
				list = &r.circling
			}
			if len(r.circling)+len(r.other) == 0 { // the first one
				for _, d := range g.in[x] {
					g.steps++
					if when[d] < 0 {
						when[d] = seen(d, t)*n + d
						heap.Push(&queue, when[d])
					}
				}
			}
			if len(*list) <= check.MaxProblems {
				*list = append(*list, t)
			}
		}
	}
	type cause struct{ round, ref, carrier int }
	for i, d := range g.nodes {
		var causes []cause
		told := make(map[int]bool)
		for ref, x := range d.targets {
			if len(x.carriers) == 0 {
				continue
			}
			r := &rejected[x.node-n]
			lists := [][]int{r.circling, r.other}
			if g.component[x.node] == g.component[i] {
				lists = lists[1:]
			}
			for _, list := range lists {
				for _, t := range list {
					if g.steps++; !told[t] {
						told[t] = true
						causes = append(causes, cause{seen(i, t), ref, t})
					}
				}
			}
		}
		slices.SortFunc(causes, func(a, b cause) int {
			return cmp.Or(a.round-b.round, a.ref-b.ref, a.carrier-b.carrier)
		})
		for _, c := range causes {
			d.refersToRejected(d.Correlation.Refs[c.ref], g.nodes[c.carrier])
		}
	}
}
