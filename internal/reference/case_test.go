package reference_test

import "fmt"

// situation is a set of rules and what they say
// about events. Any evaluator must agree with it.
type situation struct {
	Name   string
	Rules  string // one YAML file
	Detail string // "" is off

	IncludeEvent bool
	ResultTime   bool
	Arrival      int64 // of every event
	Routing      *caseRouting

	Events []caseEvent
}

// caseRouting switches logsource routing on. Static has the keys product, service,
// category; Windows derives those of Windows records.
type caseRouting struct {
	Static  map[string]string
	Windows bool
}

// caseEvent is one line and what is to come of it. Empty texts are not compared.
type caseEvent struct {
	Line       string
	Fires      []string // titles in order
	Selections string   // matched_selections of the first result, as JSON
	Fields     string   // matched_fields of the first result, as JSON
	Result     string   // the first result line

	Pruned           int // rules in conflict with the event's logsource
	WithoutLogsource bool
}

// rule is a rule titled T with one detection.
func rule(sel string) string {
	return "title: T\ndetection:\n  sel: " + sel + "\n  condition: sel\n"
}

// rule3 is rule under sigma-version 3.
func rule3(sel string) string { return "sigma-version: 3\n" + rule(sel) }

// conditionOver is a rule over detections a, b, c, which hold for events that
// have the key of that name.
func conditionOver(condition string) string {
	return "title: T\ndetection:\n  a: {a|exists: true}\n  b: {b|exists: true}\n  c: {c|exists: true}\n" +
		fmt.Sprintf("  condition: %s\n", condition)
}

func yes(lines ...string) []caseEvent {
	var out []caseEvent
	for _, l := range lines {
		out = append(out, caseEvent{Line: l, Fires: []string{"T"}})
	}
	return out
}

func no(lines ...string) []caseEvent {
	var out []caseEvent
	for _, l := range lines {
		out = append(out, caseEvent{Line: l})
	}
	return out
}

// with fills in what the only event of a list is to give.
func with(events []caseEvent, selections, fields string) []caseEvent {
	for i := range events {
		events[i].Selections, events[i].Fields = selections, fields
	}
	return events
}

func both(a, b []caseEvent) []caseEvent { return append(a, b...) }

// cases returns the case table.
func cases() []situation {
	var out []situation
	for _, group := range [][]situation{valueCases(), operatorCases(), eventCases(), conditionCases(), arrayCases(), resultCases(), routingCases(), windowsCases()} {
		out = append(out, group...)
	}
	return out
}
