package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
)

// run is one pipeline at work on one document.
type run struct {
	rule        *ast.Rule        // nil for correlations
	correlation *ast.Correlation // nil for detection rules
	referenced  []ast.Logsource  // of a correlation's detection rules, before and after their pipelines
	vars        map[string]*variable
	state       map[string]scalar
	applied     map[string]bool
	products    map[string][]string // ids of the items that made a name outside of items
	warnings    *[]string
	outer       []*item         // the nest items we are in
	uses        map[string]bool // what values of sources were read, by the names that Changed gives

	values int // that placeholders became, so far
}

// call is one item at work.
type call struct {
	*run
	item *item
}

// Apply rewrites a copy of rule by every pipeline of the set. The outcome names
// the ids of the items that acted, sorted, each once. The error wraps
// load.ErrSkip when the rule is to be left out without being rejected.
func (s *Set) Apply(rule *ast.Rule) (*ast.Rule, load.Outcome, error) {
	out := cloneRule(rule)
	outcome, err := s.each(func(p *Pipeline, warnings *[]string) *run {
		return &run{rule: out, warnings: warnings}
	})
	clearApplied(out)
	shareUnchanged(out, rule)
	return out, outcome, err
}

// each runs all pipelines, each with a state of its own.
func (s *Set) each(start func(*Pipeline, *[]string) *run) (o load.Outcome, err error) {
	all, uses := map[string]bool{}, map[string]bool{}
	defer func() {
		if len(uses) > 0 {
			o.Uses = slices.Sorted(maps.Keys(uses))
		}
	}()
	for i, p := range s.Pipelines {
		r := start(p, &o.Warnings)
		r.vars, r.state, r.applied, r.products = s.varsFor(i), map[string]scalar{}, map[string]bool{}, map[string][]string{}
		r.uses = uses
		if r.rule != nil {
			clearApplied(r.rule)
		}
		if err := r.items(p.items); err != nil {
			return o, err
		}
		maps.Copy(all, r.applied)
	}
	o.Applied = slices.Sorted(maps.Keys(all))
	return o, nil
}

func (r *run) items(items []*item) error {
	for _, it := range items {
		if !it.rule.holds(func(c ruleCondition) bool { return c.rule(r) }) {
			continue
		}
		if r.correlation != nil {
			if done, err := r.correlate(it); err != nil || !done {
				if err != nil {
					return err
				}
				continue
			}
		} else if err := it.act.apply(&call{run: r, item: it}); err != nil {
			if errors.Is(err, errNotApplied) {
				continue
			}
			return err
		}
		if it.id != "" {
			r.applied[it.id] = true
		}
	}
	return nil
}

// errNotApplied is returned by an item that did nothing and does not count as
// applied.
var errNotApplied = errors.New("not applied")

// warn adds a warning, each once.
func (r *run) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(*r.warnings, text) {
		*r.warnings = append(*r.warnings, text)
	}
}

func (r *run) meta() *ast.Meta {
	if r.correlation != nil {
		return &r.correlation.Meta
	}
	return &r.rule.Meta
}

func (r *run) logsources() []ast.Logsource {
	if r.correlation != nil {
		return r.referenced
	}
	return []ast.Logsource{r.rule.Logsource}
}

// anyItem asks every item of the rule, filters included.
func (r *run) anyItem(ask func(*ast.Item) bool) bool {
	if r.rule == nil {
		return false
	}
	found := false
	eachItem(r.rule, func(_ *ast.Node, it *ast.Item) {
		found = found || ask(it)
	})
	return found
}

// attribute returns the values of a rule attribute by its name, custom ones
// behind the standard ones.
func (r *run) attribute(name string) ([]string, bool) {
	m := r.meta()
	one := map[string]string{
		"title": m.Title, "id": m.ID, "name": m.Name, "description": m.Description, "author": m.Author, "date": m.Date,
		"modified": m.Modified, "status": m.Status, "level": m.Level.String(), "taxonomy": m.Taxonomy, "license": m.License,
	}
	if v, ok := one[name]; ok {
		return []string{v}, v != ""
	}
	lists := map[string][]string{
		"tags": m.Tags, "references": m.References, "fields": m.Fields, "falsepositives": m.FalsePositives, "scope": m.Scope,
	}
	if v, ok := lists[name]; ok {
		return v, true
	}
	v, ok := m.Attributes[name]
	if !ok {
		return nil, false
	}
	if list, ok := v.([]any); ok {
		var out []string
		for _, e := range list {
			out = append(out, fmt.Sprint(e))
		}
		return out, true
	}
	return []string{fmt.Sprint(v)}, true
}

// touches reports whether the item at work may change it: the groups of every
// nest around it and its own all hold. The field conditions are
// asked for the names that values refer to, too.
func (c *call) touches(it *ast.Item) bool {
	return c.groups(func(w *item) bool {
		return w.detect.holds(func(d itemCondition) bool { return d.item(c.run, it) }) && w.fieldHolds(c.run, it)
	})
}

func (w *item) fieldHolds(r *run, it *ast.Item) bool {
	if w.fieldNameHolds(r, it.Field, it) {
		return true
	}
	return it.Modifiers.HasAny(referring) && slices.ContainsFunc(it.Values, func(v ast.Value) bool {
		return slices.ContainsFunc(referred(it, v), func(name string) bool { return w.fieldNameHolds(r, name, it) })
	})
}

func (w *item) fieldNameHolds(r *run, name string, it *ast.Item) bool {
	return w.field.holds(func(f fieldCondition) bool { return f.field(r, name, it) })
}

// mayRename reports whether a name of the list of output fields may change: only
// field name conditions are asked, and an item with detection item conditions has
// no say.
func (c *call) mayRename(name string) bool {
	return c.groups(func(w *item) bool { return w.detect.empty() && w.fieldNameHolds(c.run, name, nil) })
}

func (c *call) groups(ask func(*item) bool) bool {
	return !slices.ContainsFunc(c.outer, func(w *item) bool { return !ask(w) }) && ask(c.item)
}

// mark notes on an item that the item at work changed it.
func (c *call) mark(it *ast.Item) {
	if c.item.id != "" && !slices.Contains(it.Applied, c.item.id) {
		it.Applied = append(slices.Clone(it.Applied), c.item.id)
	}
}

// produced notes that the item at work made names outside of items.
func (c *call) produced(names ...string) {
	if c.item.id == "" {
		return
	}
	for _, name := range names {
		c.products[name] = append(c.products[name], c.item.id)
	}
}

func parseNumber(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}
