package load

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
)

// maxChain is the number of correlation levels above a directly fed one beyond
// which a load warns.
const maxChain = 10

// resolveCorrelations resolves references, runs the pipelines, and checks the
// correlations together.
func (l *collector) resolveCorrelations() {
	var all []*draft
	for _, d := range l.drafts {
		if d.Correlation != nil {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return
	}
	carriers := l.carriers()
	for _, d := range all {
		for _, ref := range d.Correlation.Refs {
			d.targets = append(d.targets, carriers[ref])
		}
	}
	for _, d := range all {
		d.guard(func() { l.transformCorrelation(d) })
		if d.state == pending {
			d.settle()
		}
	}
	for _, d := range all {
		if d.state == pending {
			d.judgeReferences()
			d.members(carriers)
		}
	}
	g := graph{nodes: all}
	g.cycles()
	g.propagate()
	l.publish(all)
	g.warnDepth()
}

// carriers maps every id and name to the documents that correlations may mean by
// it: detection rules and correlations, usable or not.
func (l *collector) carriers() map[string][]*draft {
	out := make(map[string][]*draft)
	for _, list := range [][]*draft{l.drafts, l.excluded} {
		for _, d := range list {
			if d.Filter != nil {
				continue
			}
			if d.ID != "" {
				out[d.ID] = append(out[d.ID], d)
			}
			if d.Name != "" && d.Name != d.ID {
				out[d.Name] = append(out[d.Name], d)
			}
		}
	}
	return out
}

func (l *collector) transformCorrelation(d *draft) {
	if l.opts.TransformCorrelation == nil {
		return
	}
	c := d.Correlation
	rewritten, outcome, err := l.opts.TransformCorrelation(c.Rule, logsources(d))
	l.applied(d, &rewritten.Meta, outcome, err)
	c.Rule = rewritten
}

// logsources returns those of the detection rules below d, as written and as
// transformed.
func logsources(d *draft) []ast.Logsource {
	var out []ast.Logsource
	seen := map[*draft]bool{d: true}
	queue := []*draft{d}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		if next.Rule != nil {
			out = append(out, next.logsourceWritten, next.Rule.Logsource)
			continue
		}
		for _, targets := range next.targets {
			for _, t := range targets {
				if !seen[t] && (t.Rule != nil || t.Correlation != nil) {
					seen[t] = true
					queue = append(queue, t)
				}
			}
		}
	}
	return out
}

// applied records what pipelines reported of a document.
func (l *collector) applied(d *draft, m *ast.Meta, o Outcome, err error) {
	m.Applied = o.Applied
	for _, w := range o.Warnings {
		d.warn(m.Origin.Line, "%s", w)
	}
	switch {
	case err == nil:
	case errors.Is(err, ErrSkip):
		d.state, d.Problems = skipped, nil // nobody asked for it, so its faults are nobody's
		d.warn(m.Origin.Line, "%v", err)
	default:
		d.failCompile(m.Origin.Line, "%v", err)
	}
}

// judgeReferences reports the references that lead nowhere usable, except those
// to other correlations, which may still turn out unusable.
func (d *draft) judgeReferences() {
	c := d.Correlation
	for i, ref := range c.Refs {
		if len(d.targets[i]) == 0 {
			d.failCompile(c.Line, "unknown rule reference '%s' in correlation '%s'", ref, d.Title)
		}
		for _, t := range d.targets[i] {
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

func (d *draft) refersToRejected(ref string, t *draft) {
	d.failCompile(d.Correlation.Line, "unknown rule reference '%s' in correlation '%s': %s carries that name and is rejected",
		ref, d.Title, t.place())
}

// members makes the list of members, of which no two name the same documents,
// and binds the extended condition to it.
func (d *draft) members(carriers map[string][]*draft) {
	c := d.Correlation
	var kept [][]*draft
	var members []ast.Member
	memberOf := func(targets []*draft) int {
		return slices.IndexFunc(kept, func(have []*draft) bool { return len(targets) > 0 && sameDrafts(have, targets) })
	}
	for i, ref := range c.Refs {
		if at := memberOf(d.targets[i]); at >= 0 {
			members[at].Spellings = append(members[at].Spellings, ref)
			continue
		}
		kept = append(kept, d.targets[i])
		members = append(members, ast.Member{Name: ref})
	}
	c.Rule.Refs, c.Rule.Members = c.Refs, members
	if c.Defaulted {
		n := len(members)
		c.Rule.Condition.Thresholds = []ast.Threshold{{Op: ast.OpGTE, Value: float64(n), Text: fmt.Sprint(n)}}
	}
	c.Rule.Condition.Expr.Walk(func(e *condition.Expr) {
		switch e.Op {
		case condition.Ident:
			if at := memberNamed(members, e.Name); at >= 0 {
				e.Name = members[at].Name
			} else if at := memberOf(carriers[e.Name]); at >= 0 {
				e.Name = members[at].Name
			} else {
				d.failCompile(c.CondLine, "correlation '%s': condition: '%s' is no member of rules", d.Title, e.Name)
			}
		case condition.Quant:
			if !slices.ContainsFunc(c.Refs, func(ref string) bool { return condition.Covers(e.Name, ref) }) {
				d.warn(c.CondLine, "correlation '%s': '%s' covers no member of rules", d.Title, e.Text())
			}
		}
	})
}

func memberNamed(members []ast.Member, name string) int {
	return slices.IndexFunc(members, func(m ast.Member) bool { return m.Name == name || slices.Contains(m.Spellings, name) })
}

// sameDrafts compares sets; both lists are free of repetitions.
func sameDrafts(a, b []*draft) bool {
	if len(a) != len(b) {
		return false
	}
	for _, d := range a {
		if !slices.Contains(b, d) {
			return false
		}
	}
	return true
}

// publish numbers the usable correlations and writes the numbers of what they
// refer to into their members.
func (l *collector) publish(all []*draft) {
	index := make(map[*draft]int)
	for _, d := range l.drafts {
		switch {
		case !d.usable() || d.state != pending:
		case d.Rule != nil:
			index[d] = len(index)
		}
	}
	for _, d := range all {
		if d.usable() && d.state == pending {
			index[d] = len(l.out.Correlations)
			l.out.Correlations = append(l.out.Correlations, d.Correlation.Rule)
		}
	}
	for _, d := range all {
		if !d.usable() || d.state != pending {
			continue
		}
		l.timestampField(d, &d.Correlation.Rule.Meta)
		for i := range d.Correlation.Rule.Members {
			m := &d.Correlation.Rule.Members[i]
			for _, t := range d.targets[slices.Index(d.Correlation.Refs, m.Name)] {
				if t.Rule != nil {
					m.Rules = append(m.Rules, index[t])
				} else {
					m.Correlations = append(m.Correlations, index[t])
				}
			}
		}
	}
}
