package ocsf

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

// Incident is what the alert pipeline reports of results that belong together.
type Incident struct {
	ID                  string
	State               string // open or resolved
	Trigger             string // group_wait, group_interval, repeat or resolved
	FirstSeen, LastSeen int64  // Unix seconds
	MaxLevel            ast.Level
	ResultCount         int64
	RuleCounts          map[string]int64 // by key of the rule
	GroupBy             []Selected       // in the order of the selectors
	Entities            []Entities       // in the order of the selectors
	Refs, Results       []byte           // JSON arrays, nil for none
}

// Selected is the value that a selector found.
type Selected struct {
	Selector string
	Value    []byte // JSON, null when it found none
}

// Entities are the values that a selector found.
type Entities struct {
	Selector string
	Values   []string
}

const (
	stateResolved    = "resolved"
	triggerGroupWait = "group_wait"
	triggerResolved  = "resolved"
)

func (f Form) appendIncident(dst []byte, i *Incident, e *graph.Envelope) []byte {
	about, rules := i.about(), slices.Sorted(maps.Keys(i.RuleCounts))
	h := head{activity: i.activity(), level: i.MaxLevel, resolved: i.State == stateResolved, seconds: e.Time.Unix()}
	dst, title := appendMessage(h.append(dst), i.title(rules, about))
	dst = f.appendRecord(dst, title, i.ID, "alert pipeline", e)
	dst = append(appendAnalytics(dst, rules), '}')
	dst = appendMillis(append(dst, `,"start_time":`...), i.FirstSeen)
	dst = appendMillis(append(dst, `,"end_time":`...), i.LastSeen)
	dst = strconv.AppendInt(append(dst, `,"count":`...), i.ResultCount, 10)
	dst, at := openUnmapped(appendResources(dst, about))
	dst = event.AppendQuoted(append(dst, `,"state":`...), i.State)
	dst = event.AppendQuoted(append(dst, `,"trigger":`...), i.Trigger)
	for n, rule := range rules {
		if n == 0 {
			dst = append(dst, `,"rule_counts":{`...)
		} else {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(event.AppendQuoted(dst, rule), ':'), i.RuleCounts[rule], 10)
	}
	if len(rules) > 0 {
		dst = append(dst, '}')
	}
	return closeUnmapped(appendSamples(dst, i.Refs, i.Results), at)
}

// appendRecord appends metadata and finding_info of a record up to its analytic.
func (f Form) appendRecord(dst, title []byte, id, analytic string, e *graph.Envelope) []byte {
	dst = e.ID.AppendUUID(append(dst, f.product...))
	dst = append(append(dst, `"},"finding_info":{"title":`...), title...)
	dst = event.AppendQuoted(append(dst, `,"uid":`...), id)
	dst = event.AppendQuoted(append(dst, `,"analytic":`+ruleAnalytic...), analytic)
	return append(dst, '}')
}

// appendSamples appends refs and results, as far as there are any.
func appendSamples(dst, refs, results []byte) []byte {
	if refs != nil {
		dst = append(append(dst, `,"refs":`...), refs...)
	}
	if results != nil {
		dst = append(append(dst, `,"results":`...), results...)
	}
	return dst
}

func (i *Incident) activity() activity {
	switch i.Trigger {
	case triggerGroupWait:
		return created
	case triggerResolved:
		return closed
	}
	return updated
}

// about is what the incident is about: strings as they are, other values as JSON.
func (i *Incident) about() (all []resource) {
	for _, g := range i.GroupBy {
		name := string(g.Value)
		if len(g.Value) > 0 && g.Value[0] == '"' {
			name = string(event.AppendUnquoted(nil, g.Value))
		}
		all = append(all, resource{g.Selector, name})
	}
	for _, e := range i.Entities {
		for _, v := range e.Values {
			all = append(all, resource{e.Selector, v})
		}
	}
	return all
}

// title names the rule with the most results, of several the first; without rules what
// the incident is about.
func (i *Incident) title(rules []string, about []resource) string {
	if len(rules) == 0 {
		if len(about) == 0 {
			return "incident " + i.ID
		}
		pairs := make([]string, len(about))
		for n, r := range about {
			pairs[n] = r.kind + "=" + r.name
		}
		return "incident for " + strings.Join(pairs, ", ")
	}
	top := rules[0]
	for _, rule := range rules {
		if i.RuleCounts[rule] > i.RuleCounts[top] {
			top = rule
		}
	}
	switch others := len(rules) - 1; others {
	case 0:
		return top
	case 1:
		return top + " and 1 other rule"
	default:
		return top + " and " + strconv.Itoa(others) + " other rules"
	}
}
