package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
)

// Rewrite makes a load pass its rules of every kind through the set.
func (s *Set) Rewrite(o *load.Options) {
	o.Transform, o.TransformCorrelation = s.Apply, s.ApplyCorrelation
}

// ApplyCorrelation rewrites a copy of a correlation rule. referenced holds the
// logsources of the detection rules it refers to, directly or through other
// correlations, as they were before and as they are after their pipelines. The
// error wraps load.ErrSkip when the rule is to be left out without being rejected.
func (s *Set) ApplyCorrelation(rule *ast.Correlation, referenced []ast.Logsource) (*ast.Correlation, load.Outcome, error) {
	out := *rule
	out.Meta = cloneMeta(rule.Meta)
	out.GroupBy = slices.Clone(rule.GroupBy)
	out.Condition.Fields = slices.Clone(rule.Condition.Fields)
	out.Aliases = slices.Clone(rule.Aliases)
	out.Paths = maps.Clone(rule.Paths)
	for i := range out.Aliases {
		out.Aliases[i].Fields = slices.Clone(out.Aliases[i].Fields)
	}
	outcome, err := s.each(func(_ *Pipeline, warnings *[]string) *run {
		return &run{correlation: &out, referenced: referenced, warnings: warnings}
	})
	return &out, outcome, err
}

// correlate runs an item on a correlation. done is false for items that do
// nothing there and are not marked applied.
func (r *run) correlate(it *item) (done bool, err error) {
	c := &call{run: r, item: it}
	switch t := it.act.(type) {
	case renaming:
		return true, renameCorrelation(c, t.renamer)
	case evtxPaths:
		return true, t.correlation(c)
	case setAttribute, ruleFailure:
		return true, t.apply(c)
	case setState:
		if it.kind == "set_state" {
			return true, t.apply(c)
		}
	case nest:
		return true, t.apply(c)
	case *include:
		return true, t.apply(c)
	}
	return false, nil
}

func renameCorrelation(c *call, t renamer) error {
	r := c.correlation
	alias := func(name string) bool {
		return slices.ContainsFunc(r.Aliases, func(a ast.Alias) bool { return a.Name == name })
	}
	var groupBy []string
	for _, name := range r.GroupBy {
		targets := t.rename(name)
		if targets == nil || alias(name) || !c.renamesField(name) {
			groupBy = append(groupBy, name)
			continue
		}
		if len(targets) > 1 {
			c.warn("group-by field '%s' of correlation '%s' becomes %d fields, grouping gets broader", name, r.Title, len(targets))
		}
		groupBy = append(groupBy, targets...)
		c.movePaths(t, name, targets)
		c.produced(targets...)
	}
	r.GroupBy = groupBy
	for i := range r.Aliases {
		for k := range r.Aliases[i].Fields {
			f := &r.Aliases[i].Fields[k]
			to, err := c.renameOne(t, f.Field)
			if err != nil {
				return fmt.Errorf("field_name_mapping one-to-many cannot be applied to correlation alias mapping '%s' (rule '%s', field '%s')",
					r.Aliases[i].Name, f.Rule, f.Field)
			}
			f.Field = to
		}
	}
	for i, name := range r.Condition.Fields {
		to, err := c.renameOne(t, name)
		if err != nil {
			return fmt.Errorf("field_name_mapping one-to-many cannot be applied to correlation condition field reference '%s'", name)
		}
		r.Condition.Fields[i] = to
	}
	return nil
}

func (c *call) renamesField(name string) bool {
	return c.groups(func(w *item) bool { return w.fieldNameHolds(c.run, name, nil) })
}

var errSeveral = errors.New("several targets")

func (c *call) renameOne(t renamer, name string) (string, error) {
	targets := t.rename(name)
	switch {
	case targets == nil || !c.renamesField(name):
		return name, nil
	case len(targets) > 1:
		return "", errSeveral
	}
	c.movePaths(t, name, targets)
	c.produced(targets...)
	return targets[0], nil
}

// movePaths gives the paths of a correlation's field to its new names.
func (c *call) movePaths(t renamer, name string, targets []string) {
	paths := c.correlation.Paths[name]
	for i, to := range targets {
		if moved := renamedPaths(t, paths, i); moved != nil {
			c.correlation.Paths[to] = moved
		}
	}
}
