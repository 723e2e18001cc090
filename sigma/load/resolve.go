package load

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/load/internal/check"
)

// maxChain is the number of correlation levels above a directly fed one beyond
// which a load warns.
const maxChain = 10

// resolveCorrelations resolves references, runs the pipelines, and checks the
// correlations together. It returns how they refer to each other.
func (l *collector) resolveCorrelations() *graph {
	var all []*draft
	for _, d := range l.drafts {
		if d.Correlation != nil {
			all = append(all, d)
		}
	}
	names := l.names()
	for _, d := range all {
		for _, ref := range d.Correlation.Refs {
			d.targets = append(d.targets, names.of(ref))
		}
	}
	g := newGraph(all)
	sources := l.logsources(g)
	for i, d := range all {
		d.guard(func() { l.transformCorrelation(d, sources.below(i)) })
		if d.state == pending {
			d.settle()
		}
	}
	for _, d := range all {
		if d.state == pending {
			d.judgeReferences()
			d.members(names)
		}
	}
	g.cycles()
	g.propagate()
	l.publish(all)
	g.warnDepth()
	return g
}

// names is what correlations may mean by each id and name: detection rules and
// correlations, usable or not.
type names map[string]*reference

func (l *collector) names() names {
	out := make(names)
	for _, list := range [][]*draft{l.drafts, l.excluded} {
		for _, d := range list {
			if d.Filter != nil {
				continue
			}
			if d.ID != "" {
				out.of(d.ID).carriers = append(out.of(d.ID).carriers, d)
			}
			if d.Name != "" && d.Name != d.ID {
				out.of(d.Name).carriers = append(out.of(d.Name).carriers, d)
			}
		}
	}
	for _, d := range slices.Concat(l.drafts, l.excluded) {
		if d.ID == "" || d.Name == "" || d.Filter != nil {
			continue
		}
		id, name := out[d.ID], out[d.Name]
		if id != name && id.carriers[0] == d && name.carriers[0] == d && slices.Equal(id.carriers, name.carriers) {
			out[d.Name] = id
		}
	}
	return out
}

func (n names) of(name string) *reference {
	x := n[name]
	if x == nil {
		x = new(reference)
		n[name] = x
	}
	return x
}

func (l *collector) transformCorrelation(d *draft, logsources []ast.Logsource) {
	if l.opts.TransformCorrelation == nil {
		return
	}
	c := d.Correlation
	rewritten, outcome, err := l.opts.TransformCorrelation(c.Rule, logsources)
	l.applied(d, &rewritten.Meta, outcome, err)
	c.Rule = rewritten
	if len(outcome.Uses) > 0 {
		d.dependent = &dependent{uses: outcome.Uses}
	}
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
		x := d.targets[i]
		if len(x.carriers) == 0 {
			d.failCompile(c.Line, "unknown rule reference '%s' in correlation '%s'", ref, d.Title)
		}
		for _, t := range x.faulty() {
			switch t.state {
			case excluded:
				d.failCompile(c.Line, "correlation '%s' refers to excluded rule '%s'", d.Title, t.key())
			case skipped:
				d.failCompile(c.Line, "correlation '%s' refers to rule '%s', which a pipeline left out", d.Title, t.key())
			default:
				d.refersToRejected(ref, t)
			}
		}
	}
}

// faulty returns the carriers that cannot be referred to, as far as that is known
// before the correlations among them are judged: so many as are told.
func (x *reference) faulty() []*draft {
	if !x.judged {
		x.judged = true
		for _, t := range x.carriers {
			if (t.state != pending || t.Correlation == nil && !t.usable()) && len(x.faults) <= check.MaxProblems {
				x.faults = append(x.faults, t)
			}
		}
	}
	return x.faults
}

func (d *draft) refersToRejected(ref string, t *draft) {
	d.failCompile(d.Correlation.Line, "unknown rule reference '%s' in correlation '%s': %s carries that name and is rejected",
		ref, d.Title, t.place())
}

// members makes the list of members, of which no two name the same documents,
// and binds the extended condition to it.
func (d *draft) members(names names) {
	c := d.Correlation
	var members []ast.Member
	of := make(map[*reference]int, len(c.Refs)) // the member that stands for it
	spelt := make(map[string]int, len(c.Refs))  // and for a reference
	for i, ref := range c.Refs {
		x := d.targets[i]
		if at, has := of[x]; has {
			members[at].Spellings = append(members[at].Spellings, ref)
			spelt[ref] = at
			continue
		}
		if spelt[ref] = len(members); len(x.carriers) > 0 {
			of[x] = len(members)
		}
		members = append(members, ast.Member{Name: ref})
		d.memberTargets = append(d.memberTargets, x)
	}
	c.Rule.Refs, c.Rule.Members = c.Refs, members
	if c.Defaulted {
		n := len(members)
		c.Rule.Condition.Thresholds = []ast.Threshold{{Op: ast.OpGTE, Value: float64(n), Text: fmt.Sprint(n)}}
	}
	idle := make(map[string]bool) // by quantifier
	c.Rule.Condition.Expr.Walk(func(e *condition.Expr) {
		switch e.Op {
		case condition.Ident:
			at, found := spelt[e.Name]
			if x := names[e.Name]; !found && x != nil {
				at, found = of[x]
			}
			if found {
				e.Name = members[at].Name
			} else {
				d.failCompile(c.CondLine, "correlation '%s': condition: '%s' is no member of rules", d.Title, e.Name)
			}
		case condition.Quant:
			none, known := idle[e.Name]
			if !known {
				none = !slices.ContainsFunc(c.Refs, func(ref string) bool { return condition.Covers(e.Name, ref) })
				idle[e.Name] = none
			}
			if none {
				d.warn(c.CondLine, "correlation '%s': '%s' covers no member of rules", d.Title, e.Text())
			}
		}
	})
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
			m.Rules, m.Correlations = d.memberTargets[i].numbers(index)
		}
	}
}

// numbers returns the numbers of the carriers. All that refer to a name share the
// lists.
func (x *reference) numbers(index map[*draft]int) (rules, correlations []int) {
	if !x.published {
		x.published = true
		for _, t := range x.carriers {
			if t.Rule != nil {
				x.rules = append(x.rules, index[t])
			} else {
				x.correlations = append(x.correlations, index[t])
			}
		}
		x.rules, x.correlations = slices.Clip(x.rules), slices.Clip(x.correlations)
	}
	return x.rules, x.correlations
}
