package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Options choose what results carry and which rules are tried.
type Options struct {
	Detail          Detail
	IncludeEvent    bool
	ResultTime      bool
	TimestampFields []string // tried before the default ones
	Routing         *Routing // nil: every rule is tried on every event
}

// Routing is how an event's logsource is found. Keys are
// product, service, category, and custom.<name>.
type Routing struct {
	Windows bool              // derives those of Windows records
	Fields  map[string]string // dimension to event field; the three main ones default to their own name
	Static  map[string]string
}

// Evaluator is a rule set that is tried rule by rule.
type Evaluator struct {
	rules   []*rule
	options Options
}

type rule struct {
	rule    *ast.Rule
	block   *block
	filters []*block
}

// New compiles rules; their order is the load order. The error names a rule
// whose tree is unsound.
func New(rules []*ast.Rule, o Options) (*Evaluator, error) {
	c := &compiler{fields: map[string]*field{}}
	e := &Evaluator{options: o}
	for _, in := range rules {
		r, err := c.rule(in)
		if err != nil {
			return nil, fmt.Errorf("compile rule %s: %w", in.Key(), err)
		}
		e.rules = append(e.rules, r)
	}
	return e, nil
}

func (c *compiler) rule(in *ast.Rule) (*rule, error) {
	b, err := c.block(in.Detections, in.Conditions, in.Version)
	if err != nil {
		return nil, err
	}
	r := &rule{rule: in, block: b}
	for i := range in.Filters {
		f := &in.Filters[i]
		b, err := c.block(f.Detections, f.Conditions, f.Version)
		if err != nil {
			return nil, fmt.Errorf("filter %s: %w", f.Title, err)
		}
		r.filters = append(r.filters, b)
	}
	return r, nil
}

// With returns an evaluator of the same rules under other options. Events may
// be shared with it.
func (e *Evaluator) With(o Options) *Evaluator { return &Evaluator{rules: e.rules, options: o} }

// Fires lists the load indexes of the rules that hold, routing apart.
func (e *Evaluator) Fires(ev *Event) []int {
	if !ev.done {
		ev.done = true
		for i, r := range e.rules {
			if r.holds(ev) {
				ev.fires = append(ev.fires, i)
			}
		}
	}
	return ev.fires
}

func (r *rule) holds(ev *Event) bool {
	s := scope{ev: ev}
	if r.block.winner(s) == nil {
		return false
	}
	for _, f := range r.filters {
		if f.winner(s) == nil {
			return false
		}
	}
	return true
}

// Evaluate returns the result lines of an event in load order. Arrival is the
// second in which its batch was formed.
func (e *Evaluator) Evaluate(ev *Event, arrival int64) [][]byte {
	var out [][]byte
	for _, i := range e.Fires(ev) {
		if r := e.rules[i]; !e.options.Routing.excludes(r.rule.Logsource, ev) {
			out = append(out, e.line(r, ev, arrival))
		}
	}
	return out
}

// Routed counts the rules in conflict with the event's logsource and tells
// whether the event has one.
func (e *Evaluator) Routed(ev *Event) (pruned int, hasLogsource bool) {
	for _, r := range e.rules {
		if e.options.Routing.excludes(r.rule.Logsource, ev) {
			pruned++
		}
	}
	return pruned, e.options.Routing.hasLogsource(ev)
}

// excludes reports a dimension that is set on both sides and differs.
func (r *Routing) excludes(l ast.Logsource, ev *Event) bool {
	if r == nil {
		return false
	}
	differs := func(dimension, rule string) bool {
		values := r.dimension(dimension, ev)
		return rule != "" && len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool {
			return lowerASCII(rule) == lowerASCII(v)
		})
	}
	if differs("product", l.Product) || differs("service", l.Service) || differs("category", l.Category) {
		return true
	}
	for name, v := range l.Custom {
		if differs("custom."+name, v) {
			return true
		}
	}
	return false
}

func (r *Routing) hasLogsource(ev *Event) bool {
	if r == nil {
		return false
	}
	for d := range r.dimensions() {
		if len(r.dimension(d, ev)) > 0 {
			return true
		}
	}
	return false
}

func (r *Routing) dimensions() map[string]bool {
	out := map[string]bool{"product": true, "service": true, "category": true}
	for d := range r.Fields {
		out[d] = true
	}
	for d := range r.Static {
		out[d] = true
	}
	return out
}

// dimension returns the values of an event in a dimension: those of a Windows record
// where nothing else states one.
func (r *Routing) dimension(d string, ev *Event) []string {
	if v := r.stated(d, ev); v != "" {
		return []string{v}
	}
	if !r.Windows {
		return nil
	}
	if product := r.stated("product", ev); product != "" && lowerASCII(product) != "windows" {
		return nil
	}
	return windowsRecord(ev)[d]
}

// stated is the value that a field or the configuration states.
func (r *Routing) stated(d string, ev *Event) string {
	name, mapped := r.Fields[d]
	if !mapped && !strings.HasPrefix(d, "custom.") {
		name, mapped = d, true
	}
	if mapped {
		if v := ev.look(parsePath(name, 2)); v != nil {
			if s, ok := v.textForm(); ok && strings.TrimSpace(s) != "" {
				return strings.TrimSpace(s)
			}
		}
	}
	return r.Static[d]
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}
