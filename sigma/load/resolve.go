package load

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/condition"
)

// maxChain is the number of correlation levels above a directly fed one beyond
// which a load warns.
const maxChain = 10

// resolveCorrelations resolves references, runs the pipelines, and judges the
// correlations together (specification part 11 section 2).
func (l *loader) resolveCorrelations() {
	var all []*draft
	for _, d := range l.drafts {
		if d.correlation != nil {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return
	}
	carriers := l.carriers()
	for _, d := range all {
		for _, ref := range d.correlation.refs {
			d.correlation.targets = append(d.correlation.targets, carriers[ref])
		}
	}
	for _, d := range all {
		l.transformCorrelation(d)
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
func (l *loader) carriers() map[string][]*draft {
	out := make(map[string][]*draft)
	for _, list := range [][]*draft{l.drafts, l.excluded} {
		for _, d := range list {
			if d.filter != nil {
				continue
			}
			if d.id != "" {
				out[d.id] = append(out[d.id], d)
			}
			if d.name != "" && d.name != d.id {
				out[d.name] = append(out[d.name], d)
			}
		}
	}
	return out
}

func (l *loader) transformCorrelation(d *draft) {
	if l.opts.TransformCorrelation == nil {
		return
	}
	c := d.correlation
	rewritten, outcome, err := l.opts.TransformCorrelation(c.rule, logsources(d))
	l.applied(d, &rewritten.Meta, outcome, err)
	c.rule = rewritten
}

// logsources returns those of the detection rules below d, as written and as
// transformed.
func logsources(d *draft) []sigma.Logsource {
	var out []sigma.Logsource
	seen := map[*draft]bool{d: true}
	queue := []*draft{d}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		if next.rule != nil {
			out = append(out, next.logsourceWritten, next.rule.Logsource)
			continue
		}
		for _, targets := range next.correlation.targets {
			for _, t := range targets {
				if !seen[t] && (t.rule != nil || t.correlation != nil) {
					seen[t] = true
					queue = append(queue, t)
				}
			}
		}
	}
	return out
}

// applied records what pipelines reported of a document.
func (l *loader) applied(d *draft, m *sigma.Meta, o Outcome, err error) {
	m.Applied = o.Applied
	for _, w := range o.Warnings {
		d.warn(m.Origin.Line, "%s", w)
	}
	switch {
	case err == nil:
	case errors.Is(err, ErrSkip):
		d.state, d.problems = skipped, nil // nobody asked for it, so its faults are nobody's
		d.warn(m.Origin.Line, "%v", err)
	default:
		d.failCompile(m.Origin.Line, "%v", err)
	}
}

// judgeReferences reports the references that lead nowhere usable, except those
// to other correlations, which may still turn out unusable.
func (d *draft) judgeReferences() {
	c := d.correlation
	for i, ref := range c.refs {
		if len(c.targets[i]) == 0 {
			d.failCompile(c.line, "unknown rule reference '%s' in correlation '%s'", ref, d.title)
		}
		for _, t := range c.targets[i] {
			switch {
			case t.state == excluded:
				d.failCompile(c.line, "correlation '%s' refers to excluded rule '%s'", d.title, t.key())
			case t.state == skipped:
				d.failCompile(c.line, "correlation '%s' refers to rule '%s', which a pipeline left out", d.title, t.key())
			case t.correlation == nil && !t.usable():
				d.refersToRejected(ref, t)
			}
		}
	}
}

func (d *draft) refersToRejected(ref string, t *draft) {
	d.failCompile(d.correlation.line, "unknown rule reference '%s' in correlation '%s': %s carries that name and is rejected",
		ref, d.title, t.place())
}

// members makes the list of members, of which no two name the same documents,
// and binds the extended condition to it.
func (d *draft) members(carriers map[string][]*draft) {
	c := d.correlation
	var kept [][]*draft
	var members []sigma.Member
	memberOf := func(targets []*draft) int {
		return slices.IndexFunc(kept, func(have []*draft) bool { return len(targets) > 0 && sameDrafts(have, targets) })
	}
	for i, ref := range c.refs {
		if at := memberOf(c.targets[i]); at >= 0 {
			members[at].Spellings = append(members[at].Spellings, ref)
			continue
		}
		kept = append(kept, c.targets[i])
		members = append(members, sigma.Member{Name: ref})
	}
	c.rule.Refs, c.rule.Members = c.refs, members
	if c.defaulted {
		n := len(members)
		c.rule.Condition.Thresholds = []sigma.Threshold{{Op: sigma.OpGTE, Value: float64(n), Text: fmt.Sprint(n)}}
	}
	c.rule.Condition.Expr.Walk(func(e *condition.Expr) {
		switch e.Op {
		case condition.Ident:
			if at := memberNamed(members, e.Name); at >= 0 {
				e.Name = members[at].Name
			} else if at := memberOf(carriers[e.Name]); at >= 0 {
				e.Name = members[at].Name
			} else {
				d.failCompile(c.condLine, "correlation '%s': condition: '%s' is no member of rules", d.title, e.Name)
			}
		case condition.Quant:
			if !slices.ContainsFunc(c.refs, func(ref string) bool { return condition.Covers(e.Name, ref) }) {
				d.warn(c.condLine, "correlation '%s': '%s' covers no member of rules", d.title, e.Text())
			}
		}
	})
}

func memberNamed(members []sigma.Member, name string) int {
	return slices.IndexFunc(members, func(m sigma.Member) bool { return m.Name == name || slices.Contains(m.Spellings, name) })
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
func (l *loader) publish(all []*draft) {
	index := make(map[*draft]int)
	for _, d := range l.drafts {
		switch {
		case !d.usable() || d.state != pending:
		case d.rule != nil:
			index[d] = len(index)
		}
	}
	for _, d := range all {
		if d.usable() && d.state == pending {
			index[d] = len(l.out.Correlations)
			l.out.Correlations = append(l.out.Correlations, d.correlation.rule)
		}
	}
	for _, d := range all {
		if !d.usable() || d.state != pending {
			continue
		}
		l.timestampField(d, &d.correlation.rule.Meta)
		for i := range d.correlation.rule.Members {
			m := &d.correlation.rule.Members[i]
			for _, t := range d.correlation.targets[slices.Index(d.correlation.refs, m.Name)] {
				if t.rule != nil {
					m.Rules = append(m.Rules, index[t])
				} else {
					m.Correlations = append(m.Correlations, index[t])
				}
			}
		}
	}
}
