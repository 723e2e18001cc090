package load

// reference is what correlations mean by a name: all documents that carry it. Two names that the
// same documents carry are one.
type reference struct {
	carriers []*draft // in load order, the excluded ones last
	node     int      // in the graph, when a correlation refers to it

	judged bool
	faults []*draft // carriers that no correlation may refer to, whatever else is found

	published           bool
	rules, correlations []int // numbers of the carriers

	listed int // so many carriers had their turn in the list of the rejected
}

// graph is the correlations and how they refer to each other. Its nodes are the
// correlations, in load order, and behind them the names that they refer to: an edge
// leads from a correlation to a name, and from a name to each correlation that carries
// it. So the graph is no larger than the files.
type graph struct {
	nodes []*draft
	names []*reference
	out   [][]int
	in    [][]int

	// A component is the nodes that reach each other. Those that it refers to have
	// lower numbers.
	component []int
	order     []int // the nodes, component by component
	start     []int // of each component in order

	steps int // edges that were followed: the work done, which tests hold against the number of edges
}

func newGraph(nodes []*draft) *graph {
	g := &graph{nodes: nodes}
	for i, d := range nodes {
		d.node = i
	}
	for _, d := range nodes {
		for _, x := range d.targets {
			if x.node == 0 && len(x.carriers) > 0 {
				x.node = len(nodes) + len(g.names)
				g.names = append(g.names, x)
			}
		}
	}
	g.out, g.in = make([][]int, len(nodes)+len(g.names)), make([][]int, len(nodes)+len(g.names))
	edge := func(from, to int) {
		g.out[from], g.in[to] = append(g.out[from], to), append(g.in[to], from)
	}
	for i, d := range nodes {
		for _, x := range d.targets {
			if len(x.carriers) > 0 {
				edge(i, x.node)
			}
		}
	}
	for _, x := range g.names {
		for _, d := range x.carriers {
			if d.Correlation != nil {
				edge(x.node, d.node)
			}
		}
	}
	g.components()
	return g
}

// components finds the components by the algorithm of Tarjan, without recursion.
func (g *graph) components() {
	n := len(g.out)
	g.component = make([]int, n)
	for v := range g.component {
		g.component[v] = -1
	}
	index, low, next := make([]int, n), make([]int, n), make([]int, n)
	var path, open []int
	met := 0
	for root := range n {
		if index[root] == 0 {
			path = append(path, root)
		}
		for len(path) > 0 {
			v := path[len(path)-1]
			if index[v] == 0 {
				met++
				index[v], low[v] = met, met
				open = append(open, v)
			}
			if next[v] < len(g.out[v]) {
				g.steps++
				w := g.out[v][next[v]]
				next[v]++
				if index[w] == 0 {
					path = append(path, w)
				} else if g.component[w] < 0 {
					low[v] = min(low[v], index[w])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				above := path[len(path)-1]
				low[above] = min(low[above], low[v])
			}
			if low[v] < index[v] {
				continue
			}
			c := len(g.start)
			g.start = append(g.start, len(g.order))
			for g.component[v] < 0 {
				w := open[len(open)-1]
				open = open[:len(open)-1]
				g.component[w] = c
				g.order = append(g.order, w)
			}
		}
	}
	g.start = append(g.start, len(g.order))
}

// members returns the nodes of a component.
func (g *graph) members(c int) []int { return g.order[g.start[c]:g.start[c+1]] }

// cyclic reports whether a node reaches itself. A correlation that refers to itself
// does so by a name, which is another node.
func (g *graph) cyclic(v int) bool { return len(g.members(g.component[v])) > 1 }

// warnDepth tells of chains that are longer than anybody will follow.
func (g *graph) warnDepth() {
	level := make([]int, len(g.out))
	for _, v := range g.order { // what is on a cycle, or above one, is rejected
		for _, w := range g.out[v] {
			g.steps++
			if v < len(g.nodes) {
				level[v] = max(level[v], level[w])
			} else {
				level[v] = max(level[v], level[w]+1)
			}
		}
	}
	for i, d := range g.nodes {
		if d.usable() && d.state == pending && level[i] > maxChain {
			d.warn(d.Line, "correlation '%s' is %d correlation levels above a directly fed one", d.Title, level[i])
		}
	}
}
