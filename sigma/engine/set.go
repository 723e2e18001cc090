package engine

import (
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/engine/internal/literal"
	"github.com/sluicehq/sluice/sigma/result"
)

// Options say how a set evaluates and what its results show.
type Options struct {
	MatchDetail  result.Detail
	IncludeEvent bool
	// Routing skips rules whose logsource contradicts the event's. Nil tries
	// every rule on every event.
	Routing *Routing
	// TimestampFields are asked for the event's time before the default ones.
	TimestampFields []string
	ResultTime      bool     // results carry a timestamp
	Fields          []string // further names that callers look up
	// Beside is given work of some milliseconds that makes later events faster, now
	// and then while events are evaluated. It may run the work in another goroutine:
	// answers do not depend on when. A set has at most one piece of work given away
	// at a time. Nil runs it in the midst of evaluating.
	Background func(work func())
	// OnPanic is told of a panic in that work, once at most, in the goroutine that
	// runs it. Events are evaluated as before, without being any faster. Nil tells nobody.
	OnPanic func(value any, stack []byte)
}

// defaultTimeFields follow the configured ones.
var defaultTimeFields = [...]string{"@timestamp", "timestamp", "EventTime", "TimeCreated", "eventTime"}

// DefaultTimestampFields returns the fields that are asked for the time of an
// event after the configured ones.
func DefaultTimestampFields() []string { return slices.Clone(defaultTimeFields[:]) }

// Set is a compiled rule set.
type Set struct {
	options  Options
	plan     *compile.Plan
	handles  []*result.Rule
	include  []bool              // by load index: results carry the event
	constant []*result.Detection // by load index: what never depends on the event

	matchers   []*matcher // by field
	earlyWords []uint64   // predicates that need no asking, as bits
	times      []uint32   // fields of the event's time, in order
	routes     *routeTable
	indexes    routeIndexes
}

// Compile builds a set of rules that have passed every check of the loader. An
// error says that a rule's tree is not what the loader makes.
func Compile(rules []*sigma.Rule, o Options) (s *Set, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("compile rules: unsound rule tree: %v", r)
		}
	}()
	p := compile.Build(rules, compile.Options{Detail: o.MatchDetail, Names: o.names()})
	return newSet(rules, o, &compiled{plan: p, constant: constantSelections(p, len(rules))}), nil
}

// compiled is what compiling finds out about rules.
type compiled struct {
	plan     *compile.Plan
	constant [][]string       // by load index: the selections of rules that explain themselves alike, else nil
	choices  *literal.Choices // for the matchers of all fields; nil when there are none yet
}

func newSet(rules []*sigma.Rule, o Options, c *compiled) *Set {
	s := &Set{
		options: o, plan: c.plan, handles: make([]*result.Rule, len(rules)), include: make([]bool, len(rules)),
		constant: make([]*result.Detection, len(rules)),
	}
	for i, r := range rules {
		s.handles[i] = result.NewRule(i, r)
		s.include[i] = o.IncludeEvent || wantsEvent(r)
		if names := c.constant[i]; names != nil {
			s.constant[i] = result.NewSelections(s.handles[i], names).Detection()
		}
	}
	for _, name := range o.timeFields() {
		id, _ := s.plan.Fields.Lookup(name)
		s.times = append(s.times, id)
	}
	s.earlyWords = make([]uint64, (len(s.plan.Preds)+63)/64)
	for id := range s.plan.Preds {
		if s.plan.Preds[id].Early {
			s.earlyWords[id/64] |= 1 << (id % 64)
		}
	}
	s.matchers = newMatchers(s.plan, nil, c.choices, nil)
	s.indexes.after = indexAfter
	s.routes = newRouteTable(rules, o.Routing, s.plan.Fields)
	return s
}

// timeFields are the names of the fields of the event's time, in order.
func (o *Options) timeFields() []string {
	return slices.Concat(o.TimestampFields, defaultTimeFields[:])
}

// names are those that need a field besides those of the rules.
func (o *Options) names() []string { return slices.Concat(o.Fields, o.timeFields(), o.Routing.names()) }

// wantsEvent reports whether the rule asks for events in its results.
func wantsEvent(r *sigma.Rule) bool {
	switch v := r.Attributes["sluice.include_event"].(type) {
	case bool:
		return v
	case string:
		return v == "true"
	}
	return false
}

// Rules returns the handles by load index.
func (s *Set) Rules() []*result.Rule { return s.handles }

// Options returns what the set was compiled with.
func (s *Set) Options() Options { return s.options }
