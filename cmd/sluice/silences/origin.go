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
	"github.com/sluicehq/sluice/internal/plural"
	"github.com/sluicehq/sluice/sigma/event"
)

func quoteExpression(text string) string { return regexp.QuoteMeta(text) }

// Part is one silence of a group: its matchers, and what they are, in words.
type Part struct {
	Matchers []selector.Condition
	Of       string
}

// Group is silences that are made together. What any of them matches is muted.
type Group []Part

// OfIncident returns the silences for the results that an incident, as the API shows it, is
// made of. An incident that is grouped by values has one, with these values; if none of them
// is there, its rules are matched instead. An incident of an entity graph has one for each
// selector, with its rules and the values that it holds of the selector: a result has to have
// one of them.
func OfIncident(snapshot []byte) (Group, error) {
	var in struct {
		ID         string           `json:"incident_id"`
		RuleCounts map[string]int64 `json:"rule_counts"`
		GroupBy    json.RawMessage  `json:"group_by"`
		Entities   json.RawMessage  `json:"entities"`
	}
	if err := json.Unmarshal(snapshot, &in); err != nil || in.ID == "" {
		return nil, errors.Join(errors.New("the incident cannot be read"), err)
	}
	if len(in.GroupBy) > 0 {
		matchers := ofGroup(in.GroupBy)
		if slices.ContainsFunc(matchers, func(c selector.Condition) bool { return c.Value != "" }) {
			return Group{{matchers, "results with the values by which the incident is grouped, whatever their rule"}}, nil
		}
		return Group{{append(matchers, ofRules(in.RuleCounts)), "results of the rules of the incident, which is grouped by values that are all absent"}}, nil
	}
	group := ofEntities(in.Entities, ofRules(in.RuleCounts))
	if len(group) == 0 {
		return Group{{[]selector.Condition{ofRules(in.RuleCounts)}, "results of the rules of the incident, which holds no entities"}}, nil
	}
	return group, nil
}

// ofEntities has a silence for each selector of an entity graph that has a value.
func ofEntities(object []byte, rules selector.Condition) (group Group) {
	if len(object) == 0 {
		return nil
	}
	for key, values := range event.ValueOf(object).Members {
		var texts []string
		for v := range values.Elements {
			if text := string(event.AppendUnquoted(nil, v.Raw)); text != "" { // which would match what is absent
				texts = append(texts, text)
			}
		}
		if len(texts) == 0 {
			continue
		}
		of := string(event.AppendUnquoted(nil, key))
		group = append(group, Part{
			[]selector.Condition{rules, oneOf(of, texts)},
			"results of the rules of the incident with " + plural.Of(len(texts), "value") + " of " + of,
		})
	}
	return group
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
	return oneOf("rule", slices.Sorted(maps.Keys(counts)))
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
