package engine

import (
	"context"
	"slices"

	"github.com/sluicehq/sluice/internal/parallel"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/result"
)

// Options control how a set evaluates events and what its results show. The zero
// value tries every rule on every event and adds nothing to results.
type Options struct {
	MatchDetail  result.Detail
	IncludeEvent bool
	// Routing skips rules whose logsource contradicts the event's. Nil tries
	// every rule on every event.
	Routing *Routing
	// TimestampFields are looked up for the event's time before the default ones.
	TimestampFields []string
	ResultTime      bool     // results carry a timestamp
	EventTime       bool     // results know the time of their event, whether or not they carry it
	Fields          []string // further field names that Worker.Value will look up
	// Background receives work that makes later events faster and takes some
	// milliseconds. It may run the work in another goroutine: results do not depend
	// on when the work is done. A set has at most one piece of work outstanding. Nil
	// runs the work inside Evaluate.
	Background func(work func())
	// OnPanic is called when that work panics, at most once, in the goroutine that
	// runs it. Evaluation goes on without the work. Nil ignores the panic.
	OnPanic func(value any, stack []byte)
}

// defaultTimeFields are looked up after the configured fields.
var defaultTimeFields = [...]string{"@timestamp", "timestamp", "EventTime", "TimeCreated", "eventTime"}

// DefaultTimestampFields returns the fields that are looked up for the time of an
// event after the configured ones.
func DefaultTimestampFields() []string { return slices.Clone(defaultTimeFields[:]) }

// Set is a compiled rule set. Any number of goroutines may use it, each through a
// Worker of its own.
type Set struct {
	options  Options
	plan     *compile.Plan
	handles  []*result.Rule
	timed    bool                // results know the time of their event
	include  []bool              // by load index: results carry the event
	constant []*result.Detection // by load index: detections that do not depend on the event
	products products
	readers  readers

	matchers   []*matcher // by field
	earlyWords []uint64   // early predicates, as bits
	times      []uint32   // fields of the event's time, in order
	routes     *routeTable
	indexes    routeIndexes
	inherits   bool // indexes of the set before
}

// Compile builds a set of rules. The rules must have passed every check of package
// load: trees that package load would reject give an error of type ast.Faults.
func Compile(rules []*ast.Rule, o Options) (*Set, error) {
	s := &Set{
		options: o, timed: o.ResultTime || o.EventTime, handles: make([]*result.Rule, len(rules)), include: make([]bool, len(rules)),
		constant: make([]*result.Detection, len(rules)),
	}
	var err error
	steps := [...]func(){
		func() { s.plan, err = compile.Build(rules, compileOptions(&o)) },
		func() { s.describe(rules) },
	}
	_ = parallel.For(context.Background(), len(steps), func(i int) { steps[i]() })
	if err != nil {
		return nil, err
	}
	s.prepare(rules)
	return s, nil
}

func compileOptions(o *Options) compile.Options {
	return compile.Options{Detail: o.MatchDetail, Names: o.names()}
}

// describe makes what results show of the rules.
func (s *Set) describe(rules []*ast.Rule) {
	for i, r := range rules {
		s.handles[i] = result.NewRule(i, r)
		s.include[i] = s.options.IncludeEvent || wantsEvent(r)
	}
	s.products, s.readers = productsOf(rules), readersOf(rules)
}

// products are those that rules name, each once in lower case; the first is the empty
// one of rules that name none.
type products struct {
	names  []string
	ofRule []uint32 // by load index: number in names
}

func productsOf(rules []*ast.Rule) products {
	p := products{names: []string{""}, ofRule: make([]uint32, len(rules))}
	numbers := map[string]uint32{"": 0}
	for i, r := range rules {
		name := lower(r.Logsource.Product)
		n, known := numbers[name]
		if !known {
			n = uint32(len(p.names))
			numbers[name], p.names = n, append(p.names, name)
		}
		p.ofRule[i] = n
	}
	return p
}

// Products returns the products that the rules name, in lower case, and by load index
// the number of each rule's. The first product is the empty one.
func (s *Set) Products() (names []string, ofRule []uint32) {
	return s.products.names, s.products.ofRule
}

// prepare makes what workers look up in the plan.
func (s *Set) prepare(rules []*ast.Rule) {
	for i := range rules {
		s.fix(i)
	}
	for _, name := range s.options.timeFields() {
		id, _ := s.plan.Fields.Lookup(name)
		s.times = append(s.times, id)
	}
	s.markEarly()
	s.matchers = newMatchers(s.plan, wanted{})
	s.indexes.after = indexAfter
	s.routes = newRouteTable(rules, s.options.Routing, s.plan.Fields)
}

// fix makes the detection of a rule that does not depend on the event.
func (s *Set) fix(i int) {
	s.constant[i] = nil
	if names := constantSelections(s.plan.Rules[i]); names != nil {
		s.constant[i] = result.NewSelections(s.handles[i], names).Detection()
	}
}

// markEarly notes which predicates are early.
func (s *Set) markEarly() {
	s.earlyWords = make([]uint64, (len(s.plan.Preds)+63)/64)
	for id := range s.plan.Preds {
		if s.plan.Preds[id].Early {
			s.earlyWords[id/64] |= 1 << (id % 64)
		}
	}
}

// timeFields returns the names of the fields that hold the event's time, in order.
func (o *Options) timeFields() []string {
	return slices.Concat(o.TimestampFields, defaultTimeFields[:])
}

// names returns the field names that are needed besides those of the rules.
func (o *Options) names() []string { return slices.Concat(o.Fields, o.timeFields(), o.Routing.names()) }

// wantsEvent reports whether the rule asks for events in its results.
func wantsEvent(r *ast.Rule) bool {
	switch v := r.Attributes["sluice.include_event"].(type) {
	case bool:
		return v
	case string:
		return v == "true"
	}
	return false
}

// Rules returns the rules as results show them, by load index.
func (s *Set) Rules() []*result.Rule { return s.handles }

// Options returns what the set was compiled with.
func (s *Set) Options() Options { return s.options }
