package ast

import (
	"fmt"

	"github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Correlation is a correlation rule as the loader leaves it: every key checked,
// every reference resolved, attributes read.
type Correlation struct {
	Meta
	Type      CorrelationType      `json:"type"`
	Refs      []string             `json:"-"`     // the list rules as written, each string once
	Members   []Member             `json:"rules"` // what Refs name: at least one; no two name the same rules
	GroupBy   []string             `json:"group-by,omitempty"`
	Timespan  timespan.Span        `json:"timespan"` // never zero
	Window    Window               `json:"window"`
	Gap       timespan.Span        `json:"gap,omitempty"` // not zero exactly with WindowSession
	Condition CorrelationCondition `json:"condition"`
	Aliases   []Alias              `json:"aliases,omitempty"`
	Generate  bool                 `json:"generate,omitempty"`
	Settings  CorrelationSettings  `json:"settings"`
	// Paths holds the path patterns of fields of GroupBy, Aliases and Condition
	// that pipelines gave several, by the first pattern, which is the field's name.
	Paths map[string][]string `json:"places,omitempty"`
}

// CorrelationType says what a correlation computes over its window.
type CorrelationType string

// The types of correlations.
const (
	EventCount      CorrelationType = "event_count"
	ValueCount      CorrelationType = "value_count"
	ValueSum        CorrelationType = "value_sum"
	ValueAvg        CorrelationType = "value_avg"
	ValuePercentile CorrelationType = "value_percentile"
	ValueMedian     CorrelationType = "value_median"
	Temporal        CorrelationType = "temporal"
	TemporalOrdered CorrelationType = "temporal_ordered"
)

// Valid reports whether t is one of the types.
func (t CorrelationType) Valid() bool {
	return t == EventCount || t == ValueCount || t.Numeric() || t.Temporal()
}

// Numeric reports whether the aggregate is computed over one numeric field.
func (t CorrelationType) Numeric() bool {
	return t == ValueSum || t == ValueAvg || t == ValuePercentile || t == ValueMedian
}

// Temporal reports whether the type counts which members were seen.
func (t CorrelationType) Temporal() bool { return t == Temporal || t == TemporalOrdered }

// Window is the kind of window.
type Window string

// The kinds of windows.
const (
	WindowSliding  Window = "sliding"
	WindowTumbling Window = "tumbling"
	WindowSession  Window = "session"
)

// ParseWindow accepts exactly the three lower-case names.
func ParseWindow(s string) (Window, error) {
	switch w := Window(s); w {
	case WindowSliding, WindowTumbling, WindowSession:
		return w, nil
	}
	return "", fmt.Errorf("unknown window %q (sliding, tumbling, session)", s)
}

// Member is one entry of the list rules: a reference and what it refers to.
type Member struct {
	Name         string   `json:"name"`                   // as written first
	Spellings    []string `json:"spellings,omitempty"`    // further names of the same rules in the list
	Rules        []int    `json:"detections,omitempty"`   // load indexes of detection rules
	Correlations []int    `json:"correlations,omitempty"` // indexes of correlations
}

// CorrelationCondition is the threshold or the extended condition. Exactly one
// of Thresholds and Expr is set.
type CorrelationCondition struct {
	Thresholds []Threshold     `json:"thresholds,omitempty"` // all must hold
	Fields     []string        `json:"fields,omitempty"`     // value_*: what is counted or computed
	Percentile float64         `json:"percentile,omitempty"` // value_percentile only
	Text       string          `json:"text,omitempty"`       // the extended form as written
	Expr       *condition.Expr `json:"expr,omitempty"`       // identifiers are Names of Members
}

// Threshold is one comparison of the aggregate with a number.
type Threshold struct {
	Op    ThresholdOp `json:"op"`
	Value float64     `json:"value"`
	Text  string      `json:"text"` // Value in its canonical spelling
}

// ThresholdOp is a comparison operator.
type ThresholdOp string

// The comparison operators.
const (
	OpLT  ThresholdOp = "lt"
	OpLTE ThresholdOp = "lte"
	OpGT  ThresholdOp = "gt"
	OpGTE ThresholdOp = "gte"
	OpEQ  ThresholdOp = "eq"
	OpNEQ ThresholdOp = "neq"
)

// Symbol returns the operator as displays write it.
func (o ThresholdOp) Symbol() string {
	switch o {
	case OpLT:
		return "<"
	case OpLTE:
		return "<="
	case OpGT:
		return ">"
	case OpGTE:
		return ">="
	case OpEQ:
		return "=="
	case OpNEQ:
		return "!="
	}
	return string(o)
}

// Alias names different fields of different rules alike in GroupBy.
type Alias struct {
	Name   string       `json:"name"`
	Fields []AliasField `json:"fields"`
}

// AliasField is the field an alias reads from matches of one rule.
type AliasField struct {
	Rule  string `json:"rule"` // id or name
	Field string `json:"field"`
}

// CorrelationSettings are the settings that attributes of the correlation make
// for it alone. A nil or empty member leaves the configured default in force.
type CorrelationSettings struct {
	Suppress        *timespan.Span `json:"suppress,omitempty"` // zero switches suppression off
	Action          string         `json:"action,omitempty"`   // alert, reset
	EventMode       string         `json:"event_mode,omitempty"`
	MaxEvents       int            `json:"max_events,omitempty"`
	MaxGroupEntries int            `json:"max_group_entries,omitempty"`
}
