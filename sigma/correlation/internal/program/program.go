package program

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
)

// Action says what happens to a group that fired.
type Action string

// The actions.
const (
	Alert Action = "alert" // nothing: it fires again while the condition holds
	Reset Action = "reset" // its entries are cleared
)

// EventMode says what a group keeps of the events that contributed.
type EventMode string

// The event modes.
const (
	EventsNone EventMode = "none"
	EventsRefs EventMode = "refs"
	EventsFull EventMode = "full"
)

// Window is the kind of a window.
type Window uint8

// The kinds of windows.
const (
	Sliding Window = iota
	Tumbling
	Session
)

func windowOf(w ast.Window) Window {
	switch w {
	case ast.WindowTumbling:
		return Tumbling
	case ast.WindowSession:
		return Session
	}
	return Sliding
}

// ParseEventMode reads a mode in any case and under any of its names.
func ParseEventMode(s string) (EventMode, error) {
	switch strings.ToLower(s) {
	case "none", "off", "false":
		return EventsNone, nil
	case "full", "true":
		return EventsFull, nil
	case "refs", "references":
		return EventsRefs, nil
	}
	return "", fmt.Errorf("unknown event mode %q (none, refs, full)", s)
}

// Options are the settings of correlations that state none of their own.
type Options struct {
	Suppress        int64     // seconds; 0 is off
	Action          Action    // empty is Alert
	EventMode       EventMode // empty is EventsNone
	MaxEvents       int       // 0 is 10
	MaxGroupEntries int       // 0 is unlimited
	NoDetections    bool      // withhold matches that only feed correlations
	ResultTime      bool      // results carry the time of the event that fired them
}

// Program is a compiled set of correlations. It never changes and may be shared.
type Program struct {
	spec     match.Spec
	all      []*Correlation
	withheld []bool // by rule: its matches are not emitted
	depth    int
}

// MaxLevels is how far firings are propagated.
const MaxLevels = 10

// Correlation is a compiled correlation. Times are in seconds.
type Correlation struct {
	Source *ast.Correlation
	Rule   *Rule
	Kind   match.Kind // what a match contributes

	// Stable names the correlation over reloads and restarts: its id, else its
	// name, else its title. State is carried over when Shape is equal, too.
	Stable string
	Shape  string

	Window     Window
	Span, Gap  int64
	Horizon    int64 // after which an idle group is over
	Suppress   int64 // 0 is off
	Resets     bool  // the action
	Events     EventMode
	Stores     bool // Events is not EventsNone
	MaxEvents  int
	MaxEntries int // 0 is unlimited

	Condition  Condition
	Members    []string    // by what members are stored, whatever their spelling
	Dependents []Dependent // the correlations that refer to this one, ascending
}

// Dependent is a correlation that refers to another one, seen from the latter.
type Dependent struct {
	Index   int
	Members []uint16
	Key     []Origin // one for each part of the group key
	Values  []Origin
}

// Origin is where a chained update finds a value: in part Part of the lower
// group's key or, when that is negative, in a field of the event.
type Origin struct{ Part, Field int }

// Compile compiles correlations over the detection rules of one load; the
// position of a rule is its load index. An error means that the correlations do
// not come from a load of these rules.
func Compile(correlations []*ast.Correlation, rules []*ast.Rule, o Options) (*Program, error) {
	p := &Program{
		all:      make([]*Correlation, len(correlations)),
		withheld: make([]bool, len(rules)),
	}
	p.spec.Rules = make([]match.Rule, len(rules))
	if err := verify(correlations, len(rules)); err != nil {
		return nil, err
	}
	fields := fieldTable{numbers: make(map[string]int)}
	for i, source := range correlations {
		c, err := compile(source, i, o)
		if err != nil {
			return nil, fmt.Errorf("compile correlation %s: %w", source.Key(), err)
		}
		p.all[i] = c
	}
	feeds := make([][]match.Feed, len(rules))
	for i := range p.all {
		p.feed(i, rules, feeds, &fields)
		p.link(i, &fields)
	}
	for r := range feeds {
		p.spec.Rules[r].From = len(p.spec.Feeds)
		p.spec.Feeds = append(p.spec.Feeds, feeds[r]...)
		p.spec.Rules[r].To = len(p.spec.Feeds)
	}
	p.reach()
	if o.NoDetections {
		p.withhold()
	}
	p.spec.Fields = fields.names
	if fields.hasPaths {
		p.spec.Paths = fields.paths
	}
	p.spec.Seal()
	p.depth = p.deepest()
	return p, nil
}

// verify checks the indexes the loader resolved.
func verify(correlations []*ast.Correlation, rules int) error {
	outside := func(n int) func(int) bool { return func(i int) bool { return i < 0 || i >= n } }
	for _, c := range correlations {
		if len(c.Members) > math.MaxUint16 {
			return fmt.Errorf("correlation %s has %d members", c.Key(), len(c.Members))
		}
		for _, m := range c.Members {
			if slices.ContainsFunc(m.Rules, outside(rules)) || slices.ContainsFunc(m.Correlations, outside(len(correlations))) {
				return fmt.Errorf("correlation %s refers to a rule that is not there", c.Key())
			}
		}
	}
	return nil
}

func compile(s *ast.Correlation, index int, o Options) (*Correlation, error) {
	c := &Correlation{
		Source: s,
		Rule:   NewRule(index, s, o.ResultTime),
		Kind:   kindOf(s),
		Stable: stableID(&s.Meta),
		Shape:  shapeOf(s),
		Span:   s.Timespan.Seconds(), Gap: s.Gap.Seconds(),
		Window:     windowOf(s.Window),
		Suppress:   o.Suppress,
		Resets:     o.Action == Reset,
		Events:     o.EventMode,
		MaxEvents:  o.MaxEvents,
		MaxEntries: o.MaxGroupEntries,
	}
	c.Horizon = c.Span
	if c.Window == Session {
		c.Horizon = c.Gap
	}
	if s.Settings.Suppress != nil {
		c.Suppress = s.Settings.Suppress.Seconds()
	}
	if s.Settings.Action != "" {
		c.Resets = Action(s.Settings.Action) == Reset
	}
	if s.Settings.EventMode != "" {
		mode, err := ParseEventMode(s.Settings.EventMode)
		if err != nil {
			return nil, err
		}
		c.Events = mode
	}
	if c.Events == "" {
		c.Events = EventsNone
	}
	c.Stores = c.Events != EventsNone
	if s.Settings.MaxEvents > 0 {
		c.MaxEvents = s.Settings.MaxEvents
	}
	if c.MaxEvents <= 0 {
		c.MaxEvents = 10
	}
	if s.Settings.MaxGroupEntries > 0 {
		c.MaxEntries = s.Settings.MaxGroupEntries
	}
	var err error
	c.Condition, err = compileCondition(s)
	return c, err
}

func stableID(m *ast.Meta) string {
	switch {
	case m.ID != "":
		return m.ID
	case m.Name != "":
		return m.Name
	}
	return m.Title
}

// shapeOf spells what must be equal for state to be carried over: type, group-by
// with the mappings of its aliases, and field list.
func shapeOf(s *ast.Correlation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", s.Type)
	for _, g := range s.GroupBy {
		fmt.Fprintf(&b, " by %q", g)
		if a := aliasNamed(s, g); a != nil {
			fields := slices.Clone(a.Fields) // in which order they are written says nothing
			slices.SortFunc(fields, func(a, b ast.AliasField) int { return strings.Compare(a.Rule, b.Rule) })
			for _, f := range fields {
				fmt.Fprintf(&b, " %q=%q", f.Rule, f.Field)
			}
		}
	}
	if usesFields(s.Type) {
		fmt.Fprintf(&b, " of %q", s.Condition.Fields)
	}
	return b.String()
}

func usesFields(t ast.CorrelationType) bool { return t == ast.ValueCount || t.Numeric() }

func aliasNamed(s *ast.Correlation, name string) *ast.Alias {
	for i := range s.Aliases {
		if s.Aliases[i].Name == name {
			return &s.Aliases[i]
		}
	}
	return nil
}

// fieldOf returns the field that part g of the group key is read from, for a
// match of the rule m.
func fieldOf(s *ast.Correlation, g string, m *ast.Meta) string {
	if a := aliasNamed(s, g); a != nil {
		for _, name := range []string{m.ID, m.Name} {
			for _, f := range a.Fields {
				if name != "" && f.Rule == name {
					return f.Field
				}
			}
		}
	}
	return g
}

// Spec returns what has to be extracted from events.
func (p *Program) Spec() *match.Spec { return &p.spec }

// Len returns the number of correlations.
func (p *Program) Len() int { return len(p.all) }

// At returns correlation i.
func (p *Program) At(i int) *Correlation { return p.all[i] }

// Owners maps stable ids to the first correlation that has them: of several with
// one id it owns the state.
func (p *Program) Owners() map[string]int {
	owners := make(map[string]int, len(p.all))
	for i, c := range p.all {
		if _, taken := owners[c.Stable]; !taken {
			owners[c.Stable] = i
		}
	}
	return owners
}

// SharedIDs returns the stable ids that several correlations have; only the
// first of each keeps its state over a restart or a reload.
func (p *Program) SharedIDs() []string {
	owners := p.Owners()
	var shared []string
	for i, c := range p.all {
		if owners[c.Stable] != i && !slices.Contains(shared, c.Stable) {
			shared = append(shared, c.Stable)
		}
	}
	return shared
}

// Emits reports whether matches of the detection rule with this load index leave
// as results, or only feed correlations.
func (p *Program) Emits(rule int) bool { return rule >= len(p.withheld) || !p.withheld[rule] }

// Depth returns how many correlations the longest chain has above one that
// detections feed. Beyond MaxLevels firings are not propagated.
func (p *Program) Depth() int { return p.depth }
