package silences

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/native"
	"github.com/sluicehq/sluice/graph/selector"
	"github.com/sluicehq/sluice/sigma/event"
)

func quoteExpression(text string) string { return regexp.QuoteMeta(text) }

// OfIncident returns matchers for the results that an incident, as the API shows it, is made
// of, and says what they are. An incident that is grouped by values has these values. If none
// of them is there, and in an entity graph, its rules are matched as well; of an entity graph
// a result need not have all entities.
func OfIncident(snapshot []byte) (matchers []selector.Condition, what string, err error) {
	var in struct {
		ID         string           `json:"incident_id"`
		RuleCounts map[string]int64 `json:"rule_counts"`
		GroupBy    json.RawMessage  `json:"group_by"`
		Entities   json.RawMessage  `json:"entities"`
	}
	if err := json.Unmarshal(snapshot, &in); err != nil || in.ID == "" {
		return nil, "", errors.Join(errors.New("the incident cannot be read"), err)
	}
	if len(in.GroupBy) > 0 {
		matchers = ofGroup(in.GroupBy)
		if slices.ContainsFunc(matchers, func(c selector.Condition) bool { return c.Value != "" }) {
			return matchers, "results with the values by which the incident is grouped, whatever their rule", nil
		}
		return append(matchers, ofRules(in.RuleCounts)), "results of the rules of the incident, which is grouped by values that are all absent", nil
	}
	matchers = []selector.Condition{ofRules(in.RuleCounts)}
	if len(in.Entities) == 0 {
		return matchers, "results of the rules of the incident, which holds no entities", nil
	}
	several := 0
	for range event.ValueOf(in.Entities).Members {
		several++
	}
	entities := 0
	for key, values := range event.ValueOf(in.Entities).Members {
		var texts []string
		for v := range values.Elements {
			texts = append(texts, string(event.AppendUnquoted(nil, v.Raw)))
		}
		entities += len(texts)
		matchers = append(matchers, oneOf(string(event.AppendUnquoted(nil, key)), texts, several > 1))
	}
	what = "results of the rules of the incident with " + plural(entities, "entity value") + " of it"
	if several > 1 {
		what += "; a result may lack one or the other selector"
	}
	return matchers, what, nil
}

// ofGroup matches the values of a group; what is absent has an empty text.
func ofGroup(object []byte) (matchers []selector.Condition) {
	for key, v := range event.ValueOf(object).Members {
		c := selector.Condition{Selector: string(event.AppendUnquoted(nil, key)), Op: selector.Equal}
		switch v.Type {
		case event.Null:
		case event.String:
			c.Value = string(event.AppendUnquoted(nil, v.Raw))
		default:
			c.Value = string(event.AppendCompact(nil, v.Raw))
		}
		matchers = append(matchers, c)
	}
	return matchers
}

func ofRules(counts map[string]int64) selector.Condition {
	return oneOf("rule", slices.Sorted(maps.Keys(counts)), false)
}

// OfResult returns matchers for results like one: of its rule, with the values of the named
// fields. The line is one that Sluice wrote. Fields of a detection are those that matched,
// those of a correlation are its group-by fields.
func OfResult(line []byte, fields []string) ([]selector.Condition, error) {
	r, err := native.Parse(line)
	if err != nil {
		return nil, err
	}
	matchers := make([]selector.Condition, 0, 1+len(fields))
	for _, of := range append([]string{"rule"}, fields...) {
		if of != "rule" {
			of = selectorOf(r, of)
		}
		s, err := selector.Parse(of)
		if err != nil {
			return nil, err
		}
		value, ok := s.AppendText(nil, r)
		if !ok {
			return nil, fmt.Errorf("the result has no %s%s", s.String(), offered(r))
		}
		matchers = append(matchers, selector.Condition{Selector: s.String(), Op: selector.Equal, Value: string(value)})
	}
	return matchers, nil
}

// selectorOf is the selector of a field of a result; a selector is itself.
func selectorOf(r *graph.Result, field string) string {
	if _, err := selector.Parse(field); err == nil {
		return field
	}
	if r.Correlation != nil {
		return "correlation.group_key." + field
	}
	return "match." + field
}

// offered names the fields that a result has.
func offered(r *graph.Result) string {
	var names []string
	if r.Correlation != nil {
		for _, part := range r.Correlation.Key {
			names = append(names, part.Field)
		}
	} else {
		for i := range r.Detection.Fields {
			names = append(names, r.Detection.Fields[i].Name)
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 {
		return ""
	}
	return " (it has " + strings.Join(names, ", ") + ")"
}
