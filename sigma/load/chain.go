package load

import (
	"slices"
	"strings"
)

// graph is the correlations and how they refer to each other.
type graph struct {
	nodes  []*draft // in load order
	cyclic map[*draft]bool
}

// edges returns the correlations that d refers to, each once.
func (g *graph) edges(d *draft) []*draft {
	var out []*draft
	for _, targets := range d.targets {
		for _, t := range targets {
			if t.Correlation != nil && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// cycles rejects every correlation that reaches itself.
func (g *graph) cycles() {
	g.cyclic = make(map[*draft]bool)
	for _, d := range g.nodes {
		path := g.path(d, d)
		if path == nil {
			continue
		}
		g.cyclic[d] = true
		names := make([]string, 0, len(path)+1)
		for _, n := range g.rotate(path) {
			names = append(names, n.nodeName())
		}
		d.failCompile(d.Correlation.Line, "correlation cycle: %s", strings.Join(append(names, names[0]), " -> "))
	}
}

// path returns the nodes of a shortest way from one node to another, the last
// one left out; nil when there is none.
func (g *graph) path(from, to *draft) []*draft {
	before := make(map[*draft]*draft)
	queue := []*draft{from}
	for len(queue) > 0 {
		d := queue[0]
		queue = queue[1:]
		for _, next := range g.edges(d) {
			if next == to {
				path := []*draft{d}
				for d != from {
					d = before[d]
					path = append(path, d)
				}
				slices.Reverse(path)
				return path
			}
			if _, seen := before[next]; !seen && next != from {
				before[next] = d
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// rotate makes a cycle begin with the correlation that was loaded first, so that
// all of its members tell the same path.
func (g *graph) rotate(path []*draft) []*draft {
	first := 0
	for i, d := range path {
		if slices.Index(g.nodes, d) < slices.Index(g.nodes, path[first]) {
			first = i
		}
	}
	return append(slices.Clone(path[first:]), path[:first]...)
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

// propagate rejects what refers to a rejected correlation, and what refers to
// that. Members of one cycle have told their reason already.
func (g *graph) propagate() {
	type edge struct{ from, to *draft }
	told := make(map[edge]bool)
	for changed := true; changed; {
		changed = false
		for _, d := range g.nodes {
			c := d.Correlation
			for i, ref := range c.Refs {
				for _, t := range d.targets[i] {
					if t.Correlation == nil || t.usable() || t.state != pending || told[edge{d, t}] {
						continue
					}
					told[edge{d, t}] = true
					if g.cyclic[d] && g.cyclic[t] && g.path(t, d) != nil {
						continue
					}
					d.refersToRejected(ref, t)
					changed = true
				}
			}
		}
	}
}

// warnDepth tells of chains that are longer than anybody will follow.
func (g *graph) warnDepth() {
	level := make(map[*draft]int)
	var of func(d *draft) int
	of = func(d *draft) int {
		if n, known := level[d]; known {
			return n
		}
		n := 0
		for _, below := range g.edges(d) {
			n = max(n, 1+of(below))
		}
		level[d] = n
		return n
	}
	for _, d := range g.nodes {
		if d.usable() && d.state == pending && of(d) > maxChain {
			d.warn(d.Line, "correlation '%s' is %d correlation levels above a directly fed one", d.Title, of(d))
		}
	}
}
