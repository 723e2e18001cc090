package load

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load/internal/check"
)

func (d *draft) parseFilter() {
	f := &ast.Filter{Version: d.version()}
	d.Filter = f
	d.meta(&f.Meta, func(key string, v *document.Node) bool {
		switch key {
		case "sigma-version":
		case "logsource":
			f.Logsource = recall(d, key, v, 0, func() ast.Logsource { return d.logsource(v) })
		case "filter":
			d.filterBody(f, v)
		default:
			return false
		}
		return true
	})
}

func (d *draft) filterBody(f *ast.Filter, v *document.Node) {
	if v.Kind != document.Map {
		d.fail(v.Line, "filter must be a mapping")
		return
	}
	b := builder{draft: d, version: f.Version}
	b.checkKeys(v)
	d.aim(f, v)
	for _, e := range v.Entries {
		if e.Key.Kind == document.String && e.Key.Text != "rules" && e.Key.Text != "condition" {
			f.Detections = append(f.Detections, b.named(e, place{}))
		}
	}
	f.Conditions = b.conditions(v)
	if len(f.Detections) == 0 {
		d.fail(v.Line, "filter has no named detection")
	}
}

// aim reads which rules a filter is for.
func (d *draft) aim(f *ast.Filter, v *document.Node) {
	rules := v.Get("rules")
	if rules == nil {
		f.Any = true
		d.warn(v.Line, "filter without 'rules' applies to any rule")
		return
	}
	named := stringsOf(rules)
	switch word, isString := rules.Str(); {
	case isString:
		f.Any = strings.EqualFold(word, "any")
	case rules.Kind != document.List:
		f.Any = true
		d.warn(rules.Line, "'rules' is neither a string nor a list of strings; the filter applies to any rule")
	case len(rules.Items) == 0:
		f.Any = true
	case len(named) < len(rules.Items):
		d.warn(rules.Line, "'rules' has entries that are no strings; they are ignored")
	}
	if !f.Any {
		f.Rules = named
	}
}

func (a *aimed) appliesTo(r *ast.Rule) bool {
	f := a.draft.Filter
	return (f.Any || a.names(r)) &&
		sameDimension(f.Logsource.Category, r.Logsource.Category) &&
		sameDimension(f.Logsource.Product, r.Logsource.Product) &&
		sameDimension(f.Logsource.Service, r.Logsource.Service)
}

func (a *aimed) names(r *ast.Rule) bool {
	if a.named != nil {
		return a.named[r.Title] || r.ID != "" && a.named[r.ID] || r.Name != "" && a.named[r.Name]
	}
	return slices.ContainsFunc(a.draft.Filter.Rules, func(ref string) bool {
		return ref == r.Title || ref != "" && (ref == r.ID || ref == r.Name)
	})
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

// mergeFilters checks every filter on its own and adds the sound ones, in load
// order, to the rules they are aimed at. The rules share its detections.
func (c *collector) mergeFilters() {
	var usable []aimed
	for _, d := range c.drafts {
		f := d.Filter
		if f == nil {
			continue
		}
		scope := ast.FilterScope{
			Title: f.Title, ID: f.ID, Version: f.Version, Detections: f.Detections, Conditions: f.Conditions, Origin: f.Origin,
		}
		d.guard(func() {
			d.adopt(check.Filter(&scope, d.key(), d.Line, check.Options{
				Written: d.Written, Vague: len(d.Problems) > 0, BeforePipelines: c.opts.Transform != nil,
			}))
		})
		if !d.usable() {
			continue
		}
		c.out.Filters++
		if c.opts.Filter != nil {
			c.opts.Filter(f)
		}
		usable = append(usable, aimed{draft: d, scope: scope, named: namesIn(f.Rules)})
	}
	if len(usable) > 0 {
		c.merge(usable)
	}
}

// aimed is a usable filter.
type aimed struct {
	draft *draft
	scope ast.FilterScope
	named map[string]bool // the rules it names, when they are many
}

func namesIn(rules []string) map[string]bool {
	const few = 8
	if len(rules) <= few {
		return nil
	}
	names := make(map[string]bool, len(rules))
	for _, name := range rules {
		names[name] = true
	}
	return names
}

// merge adds filters to the rules they are aimed at. Rules with the same filters share
// the list of them.
func (c *collector) merge(filters []aimed) {
	lists := make(map[string][]ast.FilterScope)
	var key []byte
	for _, target := range c.drafts {
		if target.Rule == nil {
			continue
		}
		key = key[:0]
		for i := range filters {
			if filters[i].appliesTo(target.Rule) {
				filters[i].draft.filtered = append(filters[i].draft.filtered, target)
				key = binary.LittleEndian.AppendUint32(key, uint32(i))
			}
		}
		if len(key) == 0 || c.opts.NoFilters {
			continue
		}
		list, ok := lists[string(key)]
		if !ok {
			for k := 0; k < len(key); k += 4 {
				list = append(list, filters[binary.LittleEndian.Uint32(key[k:])].scope)
			}
			list = slices.Clip(list)
			lists[string(key)] = list
		}
		target.Rule.Filters = list
	}
}

// warnIdleFilters reports filters none of whose targets was loaded in the end.
func (c *collector) warnIdleFilters() {
	loaded := func(d *draft) bool { return d.usable() && d.state == pending }
	for _, d := range c.drafts {
		if d.Filter != nil && d.usable() && !slices.ContainsFunc(d.filtered, loaded) {
			d.warn(d.Line, "filter '%s' matches no loaded rule", d.key())
		}
	}
}

// filterDefaults gathers what filters set for the whole engine.
func (c *collector) filterDefaults() {
	for _, d := range c.drafts {
		if d.Filter != nil && d.usable() {
			c.timestampField(d, &d.Filter.Meta)
		}
	}
}
