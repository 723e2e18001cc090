package alert

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/strict"
	"github.com/sluicehq/sluice/internal/suggest"
)

func told(faults []strict.Fault) []string {
	var all []string
	for _, f := range faults {
		all = append(all, fmt.Sprintf("%d: %v", f.Line, f))
	}
	return all
}

func TestFilesThatAreRefused(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		want       []string // parts of the faults, in order
	}{
		{"no text at all", ``, []string{"0: the file is empty ({} is a pipeline that only holds silences)"}},
		{"no mapping", `[1]`, []string{"1: want a mapping, got a list"}},
		{"no YAML", "a: [", []string{"the file cannot be read: "}},
		{"an unknown key", "strip_events: true", []string{"1: unknown field 'strip_events' (valid here: strip_event, scope, inhibit_rules, silences, max_silences, dedup, group)"}},
		{"an unknown key of a section", "group:\n  by: [rule]\n  wait: 1s", []string{"3: unknown field 'group.wait' (valid here: mode, by, entities, group_wait, "}},
		{"no selectors for fingerprints", "dedup: {fingerprint: []}", []string{"1: dedup.fingerprint: at least one selector is needed"}},
		{"an unknown selector for fingerprints", "dedup:\n  fingerprint: [bogus.x]", []string{"2: dedup.fingerprint: unknown selector 'bogus.x'"}},
		{"no entities for an entity graph", "group: {mode: entity_graph, by: [rule]}", []string{"group.entities: at least one selector is needed"}},
		{"no selectors to group by", "group: {entities: [rule]}", []string{"group.by: at least one selector is needed"}},
		{"a bad selector that the mode does not use", "group: {by: [rule], entities: [event.]}", []string{"group.entities: selector 'event.' names nothing"}},
		{"an inhibition without matchers", "inhibit_rules: [{equal: [rule]}]", []string{"inhibit_rules: rule 'inhibit_rule_0' needs both source_match and target_match"}},
		{"a bad selector of equal", "inhibit_rules: [{source_match: [{selector: rule, value: x}], target_match: [{selector: level, value: low}], equal: [x]}]", []string{"inhibit_rules.equal: rule 'inhibit_rule_0': unknown selector 'x'"}},
		{"two inhibitions of one name", "inhibit_rules: [{name: x, source_match: [{selector: rule, value: x}], target_match: [{selector: level, value: low}]}, {name: x, source_match: [{selector: rule, value: y}], target_match: [{selector: level, value: low}]}]", []string{"inhibit_rules: the name 'x' is there twice"}},
		{"an inhibition with a bad expression", "inhibit_rules: [{source_match: [{selector: rule, op: =~, value: (}], target_match: [{selector: level, value: low}]}]", []string{"inhibit_rules: rule 'inhibit_rule_0': source_match: matchers[0]: matcher of 'rule': expression '(' cannot be used"}},
		{"a silence without matchers", "silences: [{comment: x}]", []string{"silences[0]: "}},
		{"a silence that ends before it begins", "silences: [{matchers: [{selector: rule, value: x}], starts_at: 2026-01-02T00:00:00Z, ends_at: 2026-01-01T00:00:00Z}]", []string{"silences[0]: "}},
		{"two silences of one id", "silences: [{id: a, matchers: [{selector: rule, value: x}]}, {id: a, matchers: [{selector: rule, value: y}]}]", []string{"silences[1] has the id 'a' of silences[0]: give each an id of its own"}},
		{"a duration without a unit", "dedup: {fingerprint: [rule], resolve_timeout: 30}", []string{`field 'dedup.resolve_timeout': invalid duration "30": a unit is needed behind the number (such as 30s, 5m or 1h 30m)`}},
		{"a number below 0", "max_silences: -1", []string{"max_silences: -1 is below 0"}},
		{"a cap below 0", "group: {by: [rule], caps: {max_open_incidents: -5}}", []string{"group.caps.max_open_incidents: -5 is below 0"}},
		{"a scope with an unknown level", "scope: {levels: [hihg]}", []string{"1: scope.levels: unknown level 'hihg'"}},
		{"a scope with a bad glob", "scope: {rules: ['[a']}", []string{"1: scope.rules: "}},
		{"an unknown mode", "group: {mode: graph, by: [rule]}", []string{"group.mode: unknown mode 'graph' (group_by, entity_graph)"}},
		{"an unknown include", "group: {by: [rule], include: all}", []string{"group.include: 'all' is neither refs nor results"}},
		{"a subject with a wildcard", "group: {by: [rule], nats_subject: incidents.*}", []string{"group.nats_subject: the subject 'incidents.*' has a wildcard"}},
		{"several faults", "max_silences: -1\ndedup: {fingerprint: []}\nx: 1", []string{"3: unknown field 'x'", "1: max_silences", "2: dedup.fingerprint"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, _, faults := Parse([]byte(tc.file))
			all := told(faults)
			if f != nil || len(all) != len(tc.want) {
				t.Fatalf("got %v, %q, want %q", f, all, tc.want)
			}
			for i := range all {
				if !strings.Contains(all[i], tc.want[i]) {
					t.Errorf("got %q, want %q", all[i], tc.want[i])
				}
			}
		})
	}
}

func TestFaultsOfListsAreToldWhereTheyStand(t *testing.T) {
	const matcher = "{selector: rule, value: x}"
	const inhibition = "inhibit_rules:\n  - source_match: [" + matcher + "]\n    target_match: [" + matcher + "]\n  - source_match: [" + matcher + "]\n    target_match: [" + matcher + "]\n"
	const silences = "silences:\n  - matchers: [" + matcher + "]\n  - matchers: [" + matcher + "]\n"
	for _, tc := range []struct{ name, file, want string }{
		{"a time that is none", silences + "    ends_at: soon", "3 silences[1]: silences[1]: ends_at 'soon' is not a time"},
		{"a value of another type", silences + "    comment: 5", "4 silences[1].comment: silences[1]: field 'comment': want text, got 5"},
		{"a matcher that cannot be read", "silences:\n  -\n    comment: x\n    matchers: [{selector: rule, op: [], value: x}]", "4 silences[0].matchers: silences[0]: field 'matchers': a matcher: field 'op'"},
		{"an element that is no mapping", silences + "  - x", "4 silences[2]: silences[2]: want a mapping, got 'x'"},
		{"an unknown key of a silence", silences + "    end_at: 5", "4 silences[1]: unknown field 'silences[1].end_at' (valid here: id, matchers, starts_at, ends_at, created_by, comment) did you mean 'ends_at'?"},
		{"the id of another", "silences:\n  - {id: a, matchers: [" + matcher + "]}\n  - matchers: [" + matcher + "]\n    id: a", "4 silences[1].id: silences[1] has the id 'a' of silences[0]"},
		{"a list that is none", "max_silences: 1\nsilences: {}", "2 silences: field 'silences': want a list, got a mapping"},
		{"a bad selector of equal", inhibition + "    equal: [x]", "6 inhibit_rules[1].equal: inhibit_rules.equal: rule 'inhibit_rule_1': unknown selector 'x'"},
		{"a duration without a unit", inhibition + "    duration: 5", `6 inhibit_rules[1].duration: inhibit_rules[1]: field 'duration': invalid duration "5"`},
		{"no matcher", inhibition + "  - name: x", "6 inhibit_rules[2]: inhibit_rules: rule 'x' needs both source_match and target_match"},
		{"a name that is taken", inhibition + "    name: inhibit_rule_0", "6 inhibit_rules[1].name: inhibit_rules: the name 'inhibit_rule_0' is there twice"},
		{"matchers of another type", "inhibit_rules:\n  - target_match: [" + matcher + "]\n    source_match: x", "3 inhibit_rules[0].source_match: inhibit_rules[0]: field 'source_match': want a list, got 'x'"},
		{"an unknown key of an inhibition", inhibition + "    equals: [rule]", "6 inhibit_rules[1]: unknown field 'inhibit_rules[1].equals' (valid here: name, source_match, target_match, equal, duration) did you mean 'equal'?"},
		{"an unknown key of the file", "dedupe: {}", "1: unknown field 'dedupe' (valid here: strip_event, scope, inhibit_rules, silences, max_silences, dedup, group) did you mean 'dedup'?"},
		{"an unknown key of a section", "group: {by: [rule], group_waits: 1s}", "1: unknown field 'group.group_waits' (valid here: mode, by, entities, group_wait, group_interval, repeat_interval, resolve_timeout, include, caps, stop_values, nats_subject) did you mean 'group_wait'?"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, faults := Parse([]byte(tc.file))
			if len(faults) != 1 {
				t.Fatalf("got %q, want one fault", told(faults))
			}
			f := faults[0]
			text := strings.TrimSpace(fmt.Sprintf("%d %s", f.Line, f.Key)) + ": " + f.Error()
			var near *suggest.Error
			if errors.As(f, &near) {
				text += " " + near.Suggestion
			}
			if !strings.HasPrefix(text, tc.want) {
				t.Errorf("got %q, want %q", text, tc.want)
			}
		})
	}
	_, warnings, _ := Parse([]byte(inhibition + "    duration: 1ms"))
	if all := told(warnings); len(all) != 1 || all[0] != "6: inhibit_rules[1].duration: 1ms is less than a second, and is taken as 1s" {
		t.Errorf("warnings %q", all)
	}
}

func TestFilesThatAreTaken(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		warnings   []string
	}{
		{"an empty mapping", "{}", nil},
		{"0 without a unit", "dedup: {fingerprint: [rule], resolve_timeout: 0}", nil},
		{"seconds", "dedup: {fingerprint: [rule], resolve_timeout: 30s}", nil},
		{"less than a second", "group: {by: [rule], group_wait: 500ms}", []string{"1: group.group_wait: 500ms is less than a second, and is taken as 1s"}},
		{"repeats that are more frequent than news", "group:\n  by: [rule]\n  repeat_interval: 1m", []string{"3: group.repeat_interval: repeats every 60s are more frequent than news, which wait for a group_interval of 300s"}},
		{"a wait that is longer than the time to resolve", "group: {by: [rule], group_wait: 2h}", []string{"1: group.group_wait: 7200s is longer than the resolve_timeout of 3600s"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, warnings, faults := Parse([]byte(tc.file))
			if f == nil || len(faults) > 0 {
				t.Fatalf("got %q", told(faults))
			}
			all := told(warnings)
			if len(all) != len(tc.warnings) {
				t.Fatalf("warnings %q, want %q", all, tc.warnings)
			}
			for i := range all {
				if !strings.HasPrefix(all[i], tc.warnings[i]) {
					t.Errorf("got %q, want %q", all[i], tc.warnings[i])
				}
			}
		})
	}
}

func TestSettingsHaveTheirDefaults(t *testing.T) {
	f := parsed(t, "{dedup: {fingerprint: [rule]}, group: {by: [rule]}, inhibit_rules: [{source_match: [{selector: rule, value: x}], target_match: [{selector: level, value: low}]}]}")
	for _, tc := range []struct {
		name      string
		got, want int64
	}{
		{"max_silences", int64(f.MaxSilences), 1000},
		{"dedup.repeat_interval", f.Dedup.Repeat, 0},
		{"dedup.resolve_timeout", f.Dedup.Resolve, 3600},
		{"dedup.max_active_alerts", int64(f.Dedup.MaxActive), 100_000},
		{"group.group_wait", f.Group.Wait, 30},
		{"group.group_interval", f.Group.Interval, 300},
		{"group.repeat_interval", f.Group.Repeat, 0},
		{"group.resolve_timeout", f.Group.Resolve, 3600},
		{"group.caps.max_open_incidents", int64(f.Group.MaxOpen), 10_000},
		{"group.caps.max_entities_per_incident", int64(f.Group.MaxEntities), 1000},
		{"group.caps.max_results_per_incident", int64(f.Group.MaxResults), 1000},
		{"group.caps.max_value_cardinality", int64(f.Group.MaxCardinality), 10_000},
		{"inhibit_rules.duration", f.Inhibit[0].Duration, 300},
	} {
		if tc.got != tc.want {
			t.Errorf("%s is %d, want %d", tc.name, tc.got, tc.want)
		}
	}
	if f.Strip || f.Group.Mode != "group_by" || f.Group.Include != "refs" || f.Inhibit[0].Name != "inhibit_rule_0" {
		t.Errorf("got %+v, %+v", f, f.Group)
	}
}
