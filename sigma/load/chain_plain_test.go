package load

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
)

// plain resolves correlations in the most straightforward way, whatever it costs.
type plain struct {
	l       *collector
	nodes   []*draft
	carries map[string][]*draft
	targets map[*draft][][]*draft
	cyclic  map[*draft]bool
}

func (l *collector) resolvePlainly() *plain {
	p := &plain{l: l, carries: make(map[string][]*draft), targets: make(map[*draft][][]*draft), cyclic: make(map[*draft]bool)}
	for _, d := range slices.Concat(l.drafts, l.excluded) {
		if d.ID != "" {
			p.carries[d.ID] = append(p.carries[d.ID], d)
		}
		if d.Name != "" && d.Name != d.ID {
			p.carries[d.Name] = append(p.carries[d.Name], d)
		}
	}
	for _, d := range l.drafts {
		if d.Correlation != nil {
			p.nodes = append(p.nodes, d)
			for _, ref := range d.Correlation.Refs {
				p.targets[d] = append(p.targets[d], p.carries[ref])
			}
		}
	}
	for _, d := range p.nodes {
		d.guard(func() { l.transformCorrelation(d, p.logsources(d)) })
		if d.state == pending {
			d.settle()
		}
	}
	for _, d := range p.nodes {
		if d.state == pending {
			p.judge(d)
			p.members(d)
		}
	}
	p.cycles()
	p.propagate()
	p.publish()
	p.warnDepth()
	return p
}

func (p *plain) logsources(d *draft) []ast.Logsource {
	var out []ast.Logsource
	seen := map[*draft]bool{d: true}
	for queue := []*draft{d}; len(queue) > 0; queue = queue[1:] {
		if next := queue[0]; next.Rule != nil {
			out = append(out, next.logsourceWritten, next.Rule.Logsource)
			continue
		}
		for _, t := range slices.Concat(p.targets[queue[0]]...) {
			if !seen[t] && (t.Rule != nil || t.Correlation != nil) {
				seen[t] = true
				queue = append(queue, t)
			}
		}
	}
	return out
}

func (p *plain) judge(d *draft) {
	c := d.Correlation
	for i, ref := range c.Refs {
		if len(p.targets[d][i]) == 0 {
			d.failCompile(c.Line, "unknown rule reference '%s' in correlation '%s'", ref, d.Title)
		}
		for _, t := range p.targets[d][i] {
			switch {
			case t.state == excluded:
				d.failCompile(c.Line, "correlation '%s' refers to excluded rule '%s'", d.Title, t.key())
			case t.state == skipped:
				d.failCompile(c.Line, "correlation '%s' refers to rule '%s', which a pipeline left out", d.Title, t.key())
			case t.Correlation == nil && !t.usable():
				d.refersToRejected(ref, t)
			}
		}
	}
}

func (p *plain) members(d *draft) {
	c := d.Correlation
	var kept [][]*draft
	var members []ast.Member
	memberOf := func(targets []*draft) int {
		return slices.IndexFunc(kept, func(have []*draft) bool {
			return len(targets) > 0 && len(have) == len(targets) && !slices.ContainsFunc(have, func(t *draft) bool { return !slices.Contains(targets, t) })
		})
	}
	for i, ref := range c.Refs {
		if at := memberOf(p.targets[d][i]); at >= 0 {
			members[at].Spellings = append(members[at].Spellings, ref)
			continue
		}
		kept = append(kept, p.targets[d][i])
		members = append(members, ast.Member{Name: ref})
	}
	c.Rule.Refs, c.Rule.Members = c.Refs, members
	if c.Defaulted {
		n := len(members)
		c.Rule.Condition.Thresholds = []ast.Threshold{{Op: ast.OpGTE, Value: float64(n), Text: fmt.Sprint(n)}}
	}
	c.Rule.Condition.Expr.Walk(func(e *condition.Expr) {
		if e.Op != condition.Ident {
			return
		}
		at := slices.IndexFunc(members, func(m ast.Member) bool { return m.Name == e.Name || slices.Contains(m.Spellings, e.Name) })
		if at < 0 {
			at = memberOf(p.carries[e.Name])
		}
		if at >= 0 {
			e.Name = members[at].Name
		} else {
			d.failCompile(c.CondLine, "correlation '%s': condition: '%s' is no member of rules", d.Title, e.Name)
		}
	})
}

func (p *plain) edges(d *draft) []*draft {
	var out []*draft
	for _, t := range slices.Concat(p.targets[d]...) {
		if t.Correlation != nil && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

func (p *plain) cycles() {
	for _, d := range p.nodes {
		path := p.path(d, d)
		if path == nil {
			continue
		}
		p.cyclic[d] = true
		first := 0
		for i := range path {
			if slices.Index(p.nodes, path[i]) < slices.Index(p.nodes, path[first]) {
				first = i
			}
		}
		var names []string
		for _, n := range slices.Concat(path[first:], path[:first]) {
			names = append(names, n.nodeName())
		}
		d.failCompile(d.Correlation.Line, "correlation cycle: %s", strings.Join(append(names, names[0]), " -> "))
	}
}

func (p *plain) path(from, to *draft) []*draft {
	before := make(map[*draft]*draft)
	for queue := []*draft{from}; len(queue) > 0; queue = queue[1:] {
		d := queue[0]
		for _, next := range p.edges(d) {
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

func (p *plain) propagate() {
	type edge struct{ from, to *draft }
	told := make(map[edge]bool)
	for changed := true; changed; {
		changed = false
		for _, d := range p.nodes {
			for i, ref := range d.Correlation.Refs {
				for _, t := range p.targets[d][i] {
					if t.Correlation == nil || t.usable() || t.state != pending || told[edge{d, t}] {
						continue
					}
					told[edge{d, t}] = true
					if p.cyclic[d] && p.cyclic[t] && p.path(t, d) != nil {
						continue
					}
					d.refersToRejected(ref, t)
					changed = true
				}
			}
		}
	}
}

func (p *plain) publish() {
	index := make(map[*draft]int)
	rules, correlations := 0, 0
	for _, d := range p.l.drafts {
		switch {
		case !d.usable() || d.state != pending:
		case d.Rule != nil:
			index[d] = rules
			rules++
		case d.Correlation != nil:
			index[d] = correlations
			correlations++
			p.l.out.Correlations = append(p.l.out.Correlations, d.Correlation.Rule)
		}
	}
	for _, d := range p.nodes {
		if !d.usable() || d.state != pending {
			continue
		}
		for i := range d.Correlation.Rule.Members {
			m := &d.Correlation.Rule.Members[i]
			for _, t := range p.targets[d][slices.Index(d.Correlation.Refs, m.Name)] {
				if t.Rule != nil {
					m.Rules = append(m.Rules, index[t])
				} else {
					m.Correlations = append(m.Correlations, index[t])
				}
			}
		}
	}
}

func (p *plain) warnDepth() {
	var level func(d *draft) int
	level = func(d *draft) int {
		n := 0
		for _, below := range p.edges(d) {
			n = max(n, 1+level(below))
		}
		return n
	}
	for _, d := range p.nodes {
		if d.usable() && d.state == pending && level(d) > maxChain {
			d.warn(d.Line, "correlation '%s' is %d correlation levels above a directly fed one", d.Title, level(d))
		}
	}
}

// reject lists titles.
func (p *plain) reject() []string {
	var out []string
	listed := make(map[*draft]bool)
	var list func(d *draft)
	list = func(d *draft) {
		if d.usable() || listed[d] {
			return
		}
		listed[d] = true
		for _, cause := range slices.Concat(p.targets[d]...) {
			list(cause)
		}
		out = append(out, d.Title)
	}
	for _, d := range p.l.drafts {
		list(d)
	}
	return out
}
