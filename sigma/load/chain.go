package load

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/clip"
)

// What is done and told of one cycle at most.
const (
	maxSearch = 256 // references that are followed in search of a shortest one
	maxTold   = 10  // correlations whose names are told
	maxName   = 103 // bytes of each
)

// cycle is a way from a correlation back to itself: how it begins, and its length.
type cycle struct {
	first []int
	len   int
}

// cycles rejects every correlation that reaches itself.
func (g *graph) cycles() {
	seen, before := make([]int, len(g.out)), make([]int, len(g.out))
	tours := make(map[int]*tour) // by component
	for i, d := range g.nodes {
		if !g.cyclic(i) {
			continue
		}
		c, found := g.shortest(i, seen, before)
		if !found {
			t := tours[g.component[i]]
			if t == nil {
				t = g.tour(g.component[i])
				tours[g.component[i]] = t
			}
			c = t.through(i)
		}
		d.failCompile(d.Correlation.Line, "correlation cycle: %s", g.text(c))
	}
}

// shortest returns a shortest cycle through a correlation, which begins with the one
// of its correlations that was loaded first, so that all of them tell the same. It
// reports false when that takes more than maxSearch steps.
func (g *graph) shortest(from int, seen, before []int) (cycle, bool) {
	queue := []int{from}
	for at, steps := 0, 0; at < len(queue); at++ {
		v := queue[at]
		for _, w := range g.out[v] {
			if steps++; steps > maxSearch {
				return cycle{}, false
			}
			g.steps++
			if w == from {
				path := []int{from}
				for ; v != from; v = before[v] {
					if v < len(g.nodes) {
						path = append(path, v)
					}
				}
				slices.Reverse(path[1:])
				first := slices.Index(path, slices.Min(path))
				return cycle{slices.Concat(path[first:], path[:first]), len(path)}, true
			}
			if seen[w] != from+1 && g.component[w] == g.component[from] {
				seen[w], before[w] = from+1, v
				queue = append(queue, w)
			}
		}
	}
	return cycle{}, false
}

// tour is the ways from the first correlation of a component to all others and back.
type tour struct {
	root    int
	lead    map[int][]int // how the way to a correlation begins, itself included
	ahead   map[int]int   // the length of the way to it: of the correlations before it
	home    map[int]int   // the next one on the way back
	back    map[int]int   // the length of that way
	closing int           // the correlation from which the shortest way back to the root comes
}

func (g *graph) tour(c int) *tour {
	members := g.members(c)
	root := slices.Min(members)
	t := &tour{root: root, lead: make(map[int][]int), ahead: make(map[int]int), home: make(map[int]int), back: make(map[int]int), closing: -1}
	t.lead[root], t.ahead[root] = []int{root}, 0
	queue := append(make([]int, 0, len(members)), root)
	for at := 0; at < len(queue); at++ {
		v := queue[at]
		for _, w := range g.out[v] {
			g.steps++
			if w == root && t.closing < 0 {
				t.closing = v
			}
			if _, met := t.lead[w]; met || g.component[w] != c {
				continue
			}
			t.lead[w], t.ahead[w] = t.lead[v], t.ahead[v]
			if w < len(g.nodes) {
				t.ahead[w]++
				if len(t.lead[v]) < maxTold {
					t.lead[w] = append(slices.Clip(t.lead[v]), w)
				}
			}
			queue = append(queue, w)
		}
	}
	t.back[root] = 0
	t.home[root] = root
	queue = append(queue[:0], root)
	for at := 0; at < len(queue); at++ {
		v := queue[at]
		for _, w := range g.in[v] {
			g.steps++
			if _, met := t.home[w]; met || g.component[w] != c {
				continue
			}
			t.home[w], t.back[w] = v, t.back[v]
			if w < len(g.nodes) {
				t.back[w]++
			}
			queue = append(queue, w)
		}
	}
	for v := range t.home { // from one correlation to the next, past names
		if v < len(g.nodes) && v != root {
			t.home[v] = t.home[t.home[v]]
		}
	}
	return t
}

// through returns a cycle through a correlation, which need not be a shortest one.
func (t *tour) through(v int) cycle {
	if v == t.root {
		return cycle{t.lead[t.closing], t.ahead[t.closing] + 1}
	}
	first := slices.Clip(t.lead[v])
	for w := v; len(first) < maxTold; first = append(first, w) {
		if w = t.home[w]; w == t.root {
			break
		}
	}
	return cycle{first, t.ahead[v] + t.back[v]}
}

// text tells a cycle: its beginning, how many more it has, and the first one again.
func (g *graph) text(c cycle) string {
	var names []string
	for _, i := range c.first[:min(len(c.first), maxTold)] {
		names = append(names, clip.Text(g.nodes[i].nodeName(), maxName))
	}
	if more := c.len - len(names); more > 0 {
		names = append(names, fmt.Sprintf("(%d more)", more))
	}
	return strings.Join(append(names, names[0]), " -> ")
}

// nodeName names a correlation in a cycle.
func (d *draft) nodeName() string {
	switch {
	case d.ID != "":
		return d.ID
	case d.Name != "":
		return d.Name
	}
	return d.Title
}
