package sigmatest

import "fmt"

// Case is one situation: rules, and what they say
// about events. Any evaluator must agree with it.
type Case struct {
	Name   string
	Rules  string // one YAML file
	Detail string // "" is off

	IncludeEvent bool
	ResultTime   bool
	Arrival      int64 // of every event
	Routing      *Routing

	Events []Event
}

// Routing switches logsource routing on. Static has the keys product, service,
// category.
type Routing struct{ Static map[string]string }

// Event is one line and what is to come of it. Empty texts are not compared.
type Event struct {
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

func yes(lines ...string) []Event {
	var out []Event
	for _, l := range lines {
		out = append(out, Event{Line: l, Fires: []string{"T"}})
	}
	return out
}

func no(lines ...string) []Event {
	var out []Event
	for _, l := range lines {
		out = append(out, Event{Line: l})
	}
	return out
}

// with fills in what the only event of a list is to give.
func with(events []Event, selections, fields string) []Event {
	for i := range events {
		events[i].Selections, events[i].Fields = selections, fields
	}
	return events
}

func both(a, b []Event) []Event { return append(a, b...) }

// Cases returns the case table.
func Cases() []Case {
	var out []Case
	for _, group := range [][]Case{valueCases(), operatorCases(), eventCases(), conditionCases(), arrayCases(), resultCases(), routingCases()} {
		out = append(out, group...)
	}
	return out
}
