package jsonpath

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"github.com/sluicehq/sluice/graph/extract/tree"
	"github.com/sluicehq/sluice/sigma/event"
)

// The bounds of a run.
const (
	MaxSteps        = 1_000_000 // of any run
	MaxStepsPerByte = 8         // more, for each byte of the text
	MaxQuery        = 64 << 10  // bytes of a query
)

// ErrSteps ends a run that goes beyond its bounds.
var ErrSteps = errors.New("the query takes too many steps")

// Query is a query that was understood. Any number of goroutines may use it.
type Query struct {
	segments []segment
}

type segment struct {
	descendant bool
	selectors  []spec.Selector
	filters    []*filter // of the selectors that are filters
}

// filter is a filter expression.
type filter struct {
	*spec.FilterSelector
	cost cost
}

// Compile understands a query.
func Compile(text string) (*Query, error) {
	if len(text) > MaxQuery {
		return nil, fmt.Errorf("the query is longer than %d bytes", MaxQuery)
	}
	path, err := jsonpath.NewParser(jsonpath.WithRegistry(functions())).Parse(text)
	if err != nil {
		fault := strings.TrimPrefix(err.Error(), "jsonpath: ")
		if !strings.HasPrefix(text, "$") {
			fault += ": a query begins with $, such as $.Records[*]"
		}
		return nil, errors.New(fault)
	}
	q := new(Query)
	for _, s := range path.Query().Segments() {
		own := segment{descendant: s.IsDescendant(), selectors: s.Selectors(), filters: make([]*filter, len(s.Selectors()))}
		for i, selector := range own.selectors {
			if f, ok := selector.(*spec.FilterSelector); ok {
				own.filters[i] = &filter{f, costOf(f.String())}
			}
		}
		q.segments = append(q.segments, own)
	}
	return q, nil
}

// Run selects by a query from texts, one after another. It is for one goroutine at a
// time.
type Run struct {
	query   *Query
	root    event.Value
	tree    any // of the root, once a filter needs it
	size    int // nodes of it, then
	each    func(event.Value) bool
	steps   int
	later   int             // steps beside these
	ctx     context.Context // whose end is looked for before later steps are taken; may be nil
	stopped bool
	err     error
	members []member // of the objects that are open
}

// NewRun returns a run by the query.
func (q *Query) NewRun() *Run { return &Run{query: q} }

// Begin gives the run what it may spend on texts of so many bytes.
func (r *Run) Begin(size int) {
	r.steps, r.later, r.ctx, r.err = MaxSteps+MaxStepsPerByte*size, 0, nil, nil
}

// BeginWithin is Begin with bounds that the caller names: so many steps, and the end of
// ctx, whose error then ends the run.
func (r *Run) BeginWithin(ctx context.Context, steps int) {
	r.steps, r.later, r.ctx, r.err = 0, steps, ctx, nil
}

// share is how many steps a run takes before it looks for the end of its context.
const share = 1 << 13

// Over selects from text, which is one JSON value, and calls each with every node in
// order, until that returns false. The error is ErrSteps, or that of the context; the nodes
// in front of it stand, and nothing is left to spend.
func (r *Run) Over(text []byte, each func(event.Value) bool) error {
	r.root, r.each, r.stopped = event.ValueOf(text), each, r.err != nil
	r.visit(0, r.root)
	r.root, r.each, r.tree, r.size = event.Value{}, nil, nil, 0
	r.members = r.members[:0]
	return r.err
}

type member struct {
	key   []byte // quoted
	value event.Value
}

// spend takes steps, and says whether there are enough.
func (r *Run) spend(steps int) bool {
	if r.steps -= steps; r.steps < 0 && !r.stopped {
		r.more()
	}
	return !r.stopped
}

// more takes from the later steps.
func (r *Run) more() {
	left := r.steps + r.later
	switch {
	case left < 0:
		r.err = ErrSteps
	case r.ctx != nil:
		r.err = r.ctx.Err()
	}
	if r.err != nil {
		r.stopped = true
		return
	}
	r.steps = min(share, left)
	r.later = left - r.steps
}

// visit selects what the segments from number n on select from v.
func (r *Run) visit(n int, v event.Value) {
	if !r.spend(1) {
		return
	}
	if n == len(r.query.segments) {
		if !r.each(v) {
			r.stopped = true
		}
		return
	}
	s := &r.query.segments[n]
	for i, selector := range s.selectors {
		if r.selectFrom(selector, s.filters[i], v, n); r.stopped {
			return
		}
	}
	if s.descendant {
		r.children(v, func(child event.Value) { r.visit(n, child) })
	}
}

// children calls f with the elements or members of v. Of members with one key only the
// last one counts.
func (r *Run) children(v event.Value, f func(event.Value)) {
	if v.Type != event.Array && v.Type != event.Object || !r.spend(len(v.Raw)/32) {
		return
	}
	if v.Type == event.Array {
		for e := range v.Elements {
			if f(e); r.stopped {
				return
			}
		}
		return
	}
	from := len(r.members)
	r.members = appendMembers(r.members, v)
	for _, m := range r.members[from:] {
		if f(m.value); r.stopped {
			break
		}
	}
	r.members = r.members[:from]
}

// fewMembers is how many members are compared with each other to find equal keys.
const fewMembers = 16

// appendMembers appends the members of an object, of several with one key the last.
func appendMembers(dst []member, object event.Value) []member {
	from := len(dst)
	for k, m := range object.Members {
		dst = append(dst, member{k, m})
	}
	own := dst[from:]
	if len(own) <= fewMembers {
		for i := 0; i < len(own); i++ {
			for j := i + 1; j < len(own); j++ {
				if sameKey(own[i].key, own[j].key) {
					own = append(own[:i], own[i+1:]...)
					i--
					break
				}
			}
		}
		return dst[:from+len(own)]
	}
	last := make(map[string]int, len(own))
	for i, m := range own {
		last[unquoted(m.key)] = i
	}
	kept := own[:0]
	for i, m := range own {
		if last[unquoted(m.key)] == i {
			kept = append(kept, m)
		}
	}
	return dst[:from+len(kept)]
}

func unquoted(key []byte) string { return string(event.AppendUnquoted(nil, key)) }

// sameKey reports whether two quoted keys spell one name.
func sameKey(a, b []byte) bool {
	if string(a) == string(b) {
		return true
	}
	if plain(a) && plain(b) {
		return false
	}
	return unquoted(a) == unquoted(b)
}

// plain reports whether a key spells its name as it stands.
func plain(key []byte) bool {
	for _, c := range key {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

// selectFrom visits what a selector of segment n selects from v.
func (r *Run) selectFrom(selector spec.Selector, f *filter, v event.Value, n int) {
	switch s := selector.(type) {
	case spec.Name:
		if v.Type != event.Object || !r.spend(len(v.Raw)/32) {
			return
		}
		var found event.Value
		for k, m := range v.Members {
			if event.KeyIs(k, string(s)) {
				found = m
			}
		}
		if found.Raw != nil {
			r.visit(n+1, found)
		}
	case spec.WildcardSelector:
		r.children(v, func(child event.Value) { r.visit(n+1, child) })
	case spec.Index:
		if i := int(s); v.Type == event.Array && r.spend(len(v.Raw)/32) {
			if i < 0 {
				i += length(v)
			}
			if i >= 0 {
				r.nth(v, i, i+1, func(e event.Value) { r.visit(n+1, e) })
			}
		}
	case spec.SliceSelector:
		if v.Type == event.Array && r.spend(len(v.Raw)/32) {
			r.slice(s, v, n)
		}
	case *spec.FilterSelector:
		r.children(v, func(child event.Value) {
			if r.passes(f, child) {
				r.visit(n+1, child)
			}
		})
	}
}

func length(array event.Value) int {
	n := 0
	for range array.Elements {
		n++
	}
	return n
}

// nth calls f with the elements of an array from one number to another.
func (r *Run) nth(array event.Value, from, to int, f func(event.Value)) {
	i := 0
	for e := range array.Elements {
		if i >= to || r.stopped {
			return
		}
		if i >= from {
			f(e)
		}
		i++
	}
}

// slice visits the elements of an array that a slice selects, in its order.
func (r *Run) slice(s spec.SliceSelector, v event.Value, n int) {
	lower, upper := s.Bounds(length(v))
	switch step := s.Step(); {
	case step > 0:
		i := 0
		r.nth(v, lower, upper, func(e event.Value) {
			if i%step == 0 {
				r.visit(n+1, e)
			}
			i++
		})
	case step < 0:
		var all []event.Value
		for e := range v.Elements {
			all = append(all, e)
		}
		for i := upper; i > lower && !r.stopped; i += step {
			r.visit(n+1, all[i])
		}
	}
}

// maxDigits is how many digits a number has that is compared as it is spelled. Numbers are
// compared as doubles, and the library makes one of it each time.
const maxDigits = 32

// passes reports whether v passes a filter.
func (r *Run) passes(f *filter, v event.Value) bool {
	child, err := tree.ParseWithin(v.Raw, maxDigits)
	if err != nil {
		return false
	}
	if r.size == 0 && f.cost.root {
		if r.tree, err = tree.ParseWithin(r.root.Raw, maxDigits); err != nil {
			return false
		}
		r.size = nodes(r.tree)
	}
	return r.spend(f.cost.of(nodes(child), r.size)+len(v.Raw)/16) && evaluate(f, child, r.tree)
}

// evaluate is the outcome of a filter expression.
func evaluate(f *filter, child, root any) (passes bool) {
	defer func() {
		if recover() != nil { // a function of what is not there selects nothing
			passes = false
		}
	}()
	return f.Eval(child, root)
}

// nodes is how many values v is made of.
func nodes(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += nodes(e)
		}
	case map[string]any:
		for _, m := range v {
			n += nodes(m)
		}
	}
	return n
}

// Repeated reports whether an object in v has several members with one key.
func (r *Run) Repeated(v event.Value) bool {
	switch v.Type {
	case event.Array:
		for e := range v.Elements {
			if r.Repeated(e) {
				return true
			}
		}
	case event.Object:
		from, n := len(r.members), 0
		for _, m := range v.Members {
			if n++; r.Repeated(m) {
				return true
			}
		}
		r.members = appendMembers(r.members, v)
		kept := len(r.members) - from
		r.members = r.members[:from]
		return kept < n
	}
	return false
}
