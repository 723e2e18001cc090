package load

import (
	"context"
	"fmt"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/parallel"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load/internal/check"
)

// Collect checks documents together: it merges filters, runs the pipelines,
// checks every rule and resolves correlations. The documents stay as they are, so
// they may be collected again with other pipelines. Exclusions are those that the
// documents were read with.
func (d *Documents) Collect(o Options) *Collection {
	c := &collector{opts: o}
	covers := make([]bool, len(o.ExcludeRules))
	for _, f := range d.files {
		docs := f.documents()
		for i := range docs {
			doc := docs[i].again(f.Name, f.root(i))
			doc.common = f.common
			for _, n := range doc.ExcludedBy {
				covers[n] = true
			}
			if doc.Excluded {
				c.excluded = append(c.excluded, doc)
			} else {
				c.drafts = append(c.drafts, doc)
			}
		}
	}
	c.mergeFilters()
	c.transformRules()
	c.filterDefaults()
	c.resolveCorrelations()
	c.warnIdleFilters()
	c.warnDuplicates()
	for _, d := range c.drafts {
		c.out.Warnings = append(c.out.Warnings, d.Warnings...)
	}
	c.reject()
	for i, used := range covers {
		if !used {
			c.out.Warnings = append(c.out.Warnings, ast.Problem{Reason: fmt.Sprintf("exclude rule %q leaves nothing out", o.ExcludeRules[i])})
		}
	}
	c.out.Excluded = len(c.excluded)
	c.out.dependents = c.dependents()
	return &c.out
}

// collector is a collection on its way. Drafts are in load order.
type collector struct {
	opts     Options
	drafts   []*draft
	excluded []*draft
	out      Collection
}

// reject lists the rejected documents in load order, but each behind those it is
// rejected for.
func (c *collector) reject() {
	type turn struct {
		d   *draft
		ref int // up to which its causes had their turn
	}
	var path []turn
	listed := make(map[*draft]bool)
	digests := make(document.Digests)
	begin := func(d *draft) {
		if !d.usable() && !listed[d] {
			listed[d] = true
			path = append(path, turn{d: d})
		}
	}
	for _, d := range c.drafts {
		begin(d)
		for len(path) > 0 {
			t := &path[len(path)-1]
			if t.ref == len(t.d.targets) {
				c.out.Rejected = append(c.out.Rejected, t.d.rejected(digests))
				path = path[:len(path)-1]
			} else if x := t.d.targets[t.ref]; x.listed < len(x.carriers) {
				x.listed++
				begin(x.carriers[x.listed-1])
			} else {
				t.ref++
			}
		}
	}
}

// transformRules runs the pipelines over every detection rule and checks what
// they made of it.
func (c *collector) transformRules() {
	var trees interner
	for _, d := range c.drafts {
		if d.Rule == nil {
			continue
		}
		d.logsourceWritten, d.fieldsWritten = d.Rule.Logsource, d.Rule.Fields
		d.read = len(d.Warnings)
		before := d.Rule
		if c.opts.Transform != nil {
			d.guard(func() {
				rewritten, outcome, err := c.opts.Transform(d.Rule)
				c.applied(d, &rewritten.Meta, outcome, err)
				if d.common || len(d.Rule.Filters) > 0 {
					trees.rule(d.Rule, rewritten)
				}
				d.Rule = rewritten
				if len(outcome.Uses) > 0 {
					d.dependent = &dependent{uses: outcome.Uses, before: before}
				}
			})
		}
	}
	groups, lists := c.alike(), c.filterLists()
	_ = parallel.For(context.Background(), len(groups), func(i int) {
		first := groups[i][0]
		first.guard(func() {
			problems, warnings := check.Rule(first.Rule, check.Options{Written: first.Written, Vague: len(first.Problems) > 0})
			for _, d := range groups[i] {
				d.adopt(problems, warnings)
				if len(lists) > 0 && len(d.Rule.Filters) > 0 {
					d.adopt(lists[&d.Rule.Filters[0]], nil)
				}
			}
		})
	})
	var open openPlaceholders
	for _, d := range c.drafts {
		if d.Rule != nil && d.state != skipped && d.usable() {
			c.out.Rules = append(c.out.Rules, d.Rule)
			c.defaults(d)
			open.warn(d)
		}
		d.made = len(d.Warnings)
	}
}

// filterLists checks the filters that pipelines rewrote, each list that rules share once.
// It returns their problems by list.
func (c *collector) filterLists() map[*ast.FilterScope][]ast.Problem {
	if c.opts.Transform == nil {
		return nil // they were checked on their own
	}
	lists := make(map[*ast.FilterScope][]ast.Problem)
	for _, d := range c.drafts {
		if d.Rule == nil || len(d.Rule.Filters) == 0 {
			continue
		}
		if _, known := lists[&d.Rule.Filters[0]]; !known {
			var problems []ast.Problem
			d.guard(func() { problems, _ = check.Filters(d.Rule) })
			lists[&d.Rule.Filters[0]] = problems
		}
	}
	return lists
}

// alike lists the rules to check, those together of which the check finds the same:
// sound rules made of one template.
func (c *collector) alike() [][]*draft {
	type tree struct {
		detections *ast.Detection
		conditions *ast.Condition
	}
	groups := make([][]*draft, 0, len(c.drafts))
	at := make(map[tree]int)
	for i, d := range c.drafts {
		if d.Rule == nil || d.state == skipped {
			continue
		}
		if d.common && len(d.Problems) == 0 && len(d.Rule.Detections) > 0 && len(d.Rule.Conditions) > 0 {
			key := tree{&d.Rule.Detections[0], &d.Rule.Conditions[0]}
			if n, ok := at[key]; ok {
				groups[n] = append(groups[n], d)
				continue
			}
			at[key] = len(groups)
		}
		groups = append(groups, c.drafts[i:i+1:i+1])
	}
	return groups
}

// warnDuplicates reports ids that two usable documents carry.
func (c *collector) warnDuplicates() {
	first := make(map[string]*draft)
	for _, d := range c.drafts {
		if d.ID == "" || !d.usable() || d.state != pending {
			continue
		}
		if before := first[d.ID]; before != nil {
			told := len(d.Warnings)
			d.warn(d.Line, "id %s is also that of %s; both documents are used", d.ID, before.place())
			for i := range d.Warnings[told:] {
				d.Warnings[told+i].Other = before.file
			}
			continue
		}
		first[d.ID] = d
	}
}
