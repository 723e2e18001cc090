package load

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/load/document"
)

// filter is a filter rule: what it adds, and to which rules.
type filter struct {
	meta      sigma.Meta
	scope     sigma.FilterScope
	any       bool
	rules     []string // ids, names or titles; unused when any
	logsource sigma.Logsource
	targets   []*draft
}

func (d *draft) parseFilter() {
	f := &filter{}
	d.filter = f
	f.scope.Version = d.version()
	d.meta(&f.meta, func(key string, v *document.Node) bool {
		switch key {
		case "sigma-version":
		case "logsource":
			f.logsource = d.logsource(v)
		case "filter":
			d.filterBody(f, v)
		default:
			return false
		}
		return true
	})
	f.scope.Title, f.scope.ID, f.scope.Origin = f.meta.Title, f.meta.ID, f.meta.Origin
}

func (d *draft) filterBody(f *filter, v *document.Node) {
	if v.Kind != document.Map {
		d.fail(v.Line, "filter must be a mapping")
		return
	}
	b := builder{draft: d, version: f.scope.Version}
	b.checkKeys(v)
	d.targets(f, v)
	for _, e := range v.Entries {
		if e.Key.Kind == document.String && e.Key.Text != "rules" && e.Key.Text != "condition" {
			f.scope.Detections = append(f.scope.Detections, b.named(e, place{}))
		}
	}
	f.scope.Conditions = b.conditions(v)
	if len(f.scope.Detections) == 0 {
		d.fail(v.Line, "filter has no named detection")
	}
}

func (d *draft) targets(f *filter, v *document.Node) {
	rules := v.Get("rules")
	if rules == nil {
		f.any = true
		d.warn(v.Line, "filter without 'rules' applies to any rule")
		return
	}
	f.rules = stringsOf(rules)
	switch word, isString := rules.Str(); {
	case isString:
		f.any = strings.EqualFold(word, "any")
	case rules.Kind != document.List:
		f.any = true
		d.warn(rules.Line, "'rules' is neither a string nor a list of strings; the filter applies to any rule")
	case len(rules.Items) == 0:
		f.any = true
	case len(f.rules) < len(rules.Items):
		d.warn(rules.Line, "'rules' has entries that are no strings; they are ignored")
	}
}

func (f *filter) appliesTo(r *sigma.Rule) bool {
	named := func(ref string) bool {
		return ref == r.Title || ref != "" && (ref == r.ID || ref == r.Name)
	}
	return (f.any || slices.ContainsFunc(f.rules, named)) &&
		sameDimension(f.logsource.Category, r.Logsource.Category) &&
		sameDimension(f.logsource.Product, r.Logsource.Product) &&
		sameDimension(f.logsource.Service, r.Logsource.Service)
}

func sameDimension(want, have string) bool { return want == "" || equalASCII(want, have) }

// equalASCII compares ignoring the case of ASCII letters only.
func equalASCII(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	lower := func(c byte) byte {
		if 'A' <= c && c <= 'Z' {
			return c | 0x20
		}
		return c
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

// document is the filter as a value of its own.
func (f *filter) document() *sigma.Filter {
	scope := cloneScope(f.scope)
	out := &sigma.Filter{
		Meta: f.meta, Version: scope.Version, Logsource: f.logsource, Any: f.any,
		Detections: scope.Detections, Conditions: scope.Conditions,
	}
	if !f.any {
		out.Rules = slices.Clone(f.rules)
	}
	return out
}

// mergeFilters checks every filter on its own and adds the sound ones, in load
// order, to the rules they are aimed at.
func (l *loader) mergeFilters() {
	for _, d := range l.drafts {
		if d.filter == nil {
			continue
		}
		c := checker{written: d.written, vague: len(d.problems) > 0, beforePipelines: l.opts.Transform != nil}
		c.scope(&d.filter.scope, fmt.Sprintf("filter '%s'", d.key()))
		d.adopt(c.problems, c.warnings)
		if !d.usable() {
			continue
		}
		l.out.Filters++
		if l.opts.Filter != nil {
			l.opts.Filter(d.filter.document())
		}
		for _, target := range l.drafts {
			if target.rule == nil || !d.filter.appliesTo(target.rule) {
				continue
			}
			d.filter.targets = append(d.filter.targets, target)
			if !l.opts.NoFilters {
				target.rule.Filters = append(target.rule.Filters, cloneScope(d.filter.scope))
			}
		}
	}
}

// warnIdleFilters reports filters none of whose targets was loaded in the end.
func (l *loader) warnIdleFilters() {
	loaded := func(d *draft) bool { return d.usable() && d.state == pending }
	for _, d := range l.drafts {
		if d.filter != nil && d.usable() && !slices.ContainsFunc(d.filter.targets, loaded) {
			d.warn(d.root.Line, "filter '%s' matches no loaded rule", d.key())
		}
	}
}

// filterDefaults gathers what filters set for the whole engine.
func (l *loader) filterDefaults() {
	for _, d := range l.drafts {
		if d.filter != nil && d.usable() {
			l.timestampField(d, &d.filter.meta)
		}
	}
}

// cloneScope copies a scope, so that pipelines rewrite it for one rule alone.
func cloneScope(s sigma.FilterScope) sigma.FilterScope {
	s.Detections = cloneDetections(s.Detections)
	s.Conditions = cloneConditions(s.Conditions)
	return s
}

func cloneDetections(in []sigma.Detection) []sigma.Detection {
	out := slices.Clone(in)
	for i := range out {
		out[i].Node = cloneNode(out[i].Node)
	}
	return out
}

func cloneConditions(in []sigma.Condition) []sigma.Condition {
	out := slices.Clone(in)
	for i := range out {
		out[i].Expr = out[i].Expr.Clone()
	}
	return out
}

func cloneNode(n *sigma.Node) *sigma.Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Items = slices.Clone(n.Items)
	for i := range c.Items {
		it := &c.Items[i]
		it.Values = slices.Clone(it.Values)
		for j := range it.Values {
			it.Values[j].Parts = slices.Clone(it.Values[j].Parts)
		}
		it.Paths = slices.Clone(it.Paths)
		it.Applied = slices.Clone(it.Applied)
	}
	c.Nodes = slices.Clone(n.Nodes)
	for i := range c.Nodes {
		c.Nodes[i] = cloneNode(c.Nodes[i])
	}
	c.Detections = cloneDetections(n.Detections)
	c.Conditions = cloneConditions(n.Conditions)
	c.Applied = slices.Clone(n.Applied)
	return &c
}
