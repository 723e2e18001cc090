package load

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Compiled calls compile with the collection and returns it. When the error is
// ast.Faults, the documents it names are rejected, and compile is called with the
// collection that is left.
func (c *Collection) Compiled(compile func(*Collection) error) (*Collection, error) {
	for {
		err := compile(c)
		var faults ast.Faults
		if !errors.As(err, &faults) {
			return c, err
		}
		c = c.without(faults)
	}
}

// without rejects what the faults name, and the correlations that refer to it.
func (c *Collection) without(faults ast.Faults) *Collection {
	out := *c
	out.Rejected, out.dependents = slices.Clip(c.Rejected), nil
	rules := make(map[int]bool)
	for _, f := range faults {
		r := c.Rules[f.Rule]
		if f.Filter < 0 {
			rules[f.Rule] = true
			out.reject(DetectionKind, &r.Meta, r, f.Reason)
			continue
		}
		if out.dropFilter(&r.Filters[f.Filter]) {
			out.reject(FilterKind, &ast.Meta{Title: r.Filters[f.Filter].Title, ID: r.Filters[f.Filter].ID, Origin: r.Filters[f.Filter].Origin}, r.Filters[f.Filter], f.Reason)
		}
	}
	correlations := make(map[int]bool)
	for changed := true; changed; {
		changed = false
		for i, k := range c.Correlations {
			if name, refers := refersTo(k, rules, correlations); refers && !correlations[i] {
				correlations[i], changed = true, true
				out.reject(CorrelationKind, &k.Meta, k, "unknown rule reference '"+name+"' in correlation '"+k.Title+"': what carries that name is rejected")
			}
		}
	}
	out.Rules = deleteAt(out.Rules, rules)
	out.Correlations = deleteAt(out.Correlations, correlations)
	for i, k := range out.Correlations {
		out.Correlations[i] = renumbered(k, rules, correlations)
	}
	return &out
}

// reject lists a document. The digest is that of its readable form: what it was read
// from is gone.
func (c *Collection) reject(kind Kind, m *ast.Meta, content any, reason string) {
	text, _ := json.Marshal(content) // plain data
	c.Rejected = append(c.Rejected, Rejected{
		File: m.Origin.File, Document: m.Origin.Document, Title: m.Title, ID: m.ID, Kind: kind, Identity: sha256.Sum256(text),
		Problems: []ast.Problem{{
			File: m.Origin.File, Document: m.Origin.Document, Line: m.Origin.Line, Title: m.Title, ID: m.ID, Stage: ast.StageCompile, Reason: reason,
		}},
	})
}

// dropFilter takes a filter out of all rules. It reports false when none has it.
func (c *Collection) dropFilter(f *ast.FilterScope) bool {
	is := func(s ast.FilterScope) bool { return s.Origin == f.Origin }
	found := false
	c.Rules = slices.Clone(c.Rules)
	for i, r := range c.Rules {
		if slices.ContainsFunc(r.Filters, is) {
			kept := *r
			kept.Filters = slices.DeleteFunc(slices.Clone(r.Filters), is)
			c.Rules[i], found = &kept, true
		}
	}
	if found {
		c.Filters--
	}
	return found
}

// refersTo reports whether a correlation refers to one of the rules or correlations.
func refersTo(k *ast.Correlation, rules, correlations map[int]bool) (name string, refers bool) {
	for _, m := range k.Members {
		if slices.ContainsFunc(m.Rules, func(i int) bool { return rules[i] }) ||
			slices.ContainsFunc(m.Correlations, func(i int) bool { return correlations[i] }) {
			return m.Name, true
		}
	}
	return "", false
}

// renumbered returns a correlation whose members name what is left by its new
// numbers.
func renumbered(k *ast.Correlation, rules, correlations map[int]bool) *ast.Correlation {
	out := *k
	out.Members = slices.Clone(k.Members)
	for i := range out.Members {
		out.Members[i].Rules = moved(out.Members[i].Rules, rules)
		out.Members[i].Correlations = moved(out.Members[i].Correlations, correlations)
	}
	return &out
}

func moved(list []int, gone map[int]bool) []int {
	out := slices.Clone(list)
	for at, i := range list {
		for g := range gone {
			if g < i {
				out[at]--
			}
		}
	}
	return out
}

func deleteAt[T any](list []T, gone map[int]bool) []T {
	var out []T
	for i, x := range list {
		if !gone[i] {
			out = append(out, x)
		}
	}
	return out
}
