package ocsf

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

const version = "1.4.0"

// arrival is when the deliveries of tests are dispatched.
var arrival = time.Unix(1773100800, 0)

// envelope is that of the deliveries of tests.
func envelope() *graph.Envelope {
	id := graph.DeliveryID{0x0f, 0x4f, 0x6c, 0x0e, 0x0d, 0x0b, 0x4c, 0x55, 0x8f, 0x4e, 0x2b, 0x1f, 0x3c, 0x9d, 0x7a, 0x11}
	return &graph.Envelope{ID: id, Time: arrival}
}

// render writes p, which has a number in its set.
func render(tb testing.TB, p graph.Payload, index int) string {
	tb.Helper()
	got, err := New(version).Append([]byte("before "), p, &graph.Message{Envelope: envelope(), Index: index, Kind: p.Kind()})
	if err != nil {
		tb.Fatal(err)
	}
	if string(got[:7]) != "before " {
		tb.Errorf("what was there before is %q now", got[:7])
	}
	return string(got[7:])
}

func of(r graph.Result) graph.Payload { return graph.Payload{Result: &r} }

// detection is a detection of a rule with what fill adds.
func detection(meta ast.Meta, fill func(*result.Batch, *result.Detection)) *result.Detection {
	var b result.Batch
	d := b.Add(result.NewRule(0, &ast.Rule{Meta: meta}))
	if fill != nil {
		fill(&b, d)
	}
	return d
}

// correlated is a result of a correlation of a type, which has the keys of extra.
func correlated(tb testing.TB, kind, extra string) *correlation.Result {
	tb.Helper()
	text := fmt.Sprintf(`{title: base, name: base, detection: {a: {b: c}, condition: a}}
---
title: Many "logins"
id: 3f0c7a52-6f5d-4f0e-8b0e-0a4c7d1e5b12
%s
correlation: {type: %s, rules: [base], group-by: [User], timespan: 5m%s}
`, extra, kind, conditions[kind])
	c := load.FromBytes("rules.yml", []byte(text), load.Options{})
	if len(c.Rejected) > 0 {
		tb.Fatalf("%s: %v", kind, c.Rejected[0])
	}
	p, err := correlation.Compile(c.Correlations, c.Rules, correlation.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return &correlation.Result{Rule: p.At(0).Rule, Key: []correlation.Pair{{Field: "User", Value: "bo"}, {Field: "n", Value: "1.50"}}, Value: 73, Time: 1720614600}
}

// conditions are those that the types of correlations need.
var conditions = map[string]string{
	"event_count": ", condition: {gte: 2}", "value_count": ", condition: {gte: 2, field: x}", "value_sum": ", condition: {gte: 2, field: x}",
	"value_avg": ", condition: {gte: 2, field: x}", "value_percentile": ", condition: {gte: 2, field: x, percentile: 95}",
	"value_median": ", condition: {gte: 2, field: x}", "temporal": "", "temporal_ordered": "",
}

// incidentRecord is a record of the alert pipeline.
type incidentRecord struct {
	native string
	Incident
}

func (incidentRecord) Kind() graph.Kind                 { return "incident" }
func (r incidentRecord) AppendNative(dst []byte) []byte { return append(dst, r.native...) }
func (r incidentRecord) OCSFIncident() Incident         { return r.Incident }

// riskRecord is a record of the risk layer.
type riskRecord struct{ RiskIncident }

func (riskRecord) Kind() graph.Kind                 { return "risk_incident" }
func (riskRecord) AppendNative(dst []byte) []byte   { return append(dst, `{"risk_incident_id":"r"}`...) }
func (r riskRecord) OCSFRiskIncident() RiskIncident { return r.RiskIncident }

// sidecar is a record that is no finding.
type sidecar string

func (sidecar) Kind() graph.Kind                 { return "dedup" }
func (r sidecar) AppendNative(dst []byte) []byte { return append(dst, r...) }

func incident(i Incident) graph.Payload { return graph.Payload{Record: incidentRecord{"native", i}} }
func risk(i RiskIncident) graph.Payload { return graph.Payload{Record: riskRecord{i}} }

func number(n int64) *int64 { return &n }

// shape is a kind of finding.
type shape struct {
	name string
	of   graph.Payload
}

// shapes are findings of every kind.
func shapes(tb testing.TB) []shape {
	tb.Helper()
	matched := func(b *result.Batch, d *result.Detection) {
		d.Selections = result.NewSelections(d.Rule, []string{"sel"})
		d.Fields = b.FieldList([]result.Field{
			{Name: "Image", Value: []byte(`"C:\\<a>.exe"`)},
			{Name: "n", Value: []byte("1.50")},
			{Name: "Image", Value: []byte(`"b"`), Match: &result.Match{Selection: "sel", Matcher: "exact", Pattern: "b", HasPattern: true, ShowCase: true}},
		})
	}
	whole := func(b *result.Batch, d *result.Detection) {
		matched(b, d)
		d.Extra = &result.Extra{Event: []byte(`{"n":1.50,"User":"bo"}`), HasTime: true, Time: 1720614600}
	}
	meta := ast.Meta{
		Title: `a "title" <&>`, ID: "3f0c7a52-6f5d-4f0e-8b0e-0a4c7d1e5b11", Level: ast.LevelMedium,
		Tags: []string{"attack.T1110", "attack.credential-access", "cve.2024.1"}, Attributes: map[string]any{"owner": "team", "n": 1},
	}
	all := []shape{
		{"a detection with nothing", of(graph.Result{Detection: detection(ast.Meta{Title: "T"}, nil)})},
		{"a detection with fields", of(graph.Result{Detection: detection(ast.Meta{Title: "T", Tags: []string{"tlp.red"}}, matched)})},
		{"a detection with everything", of(graph.Result{
			Detection:   detection(meta, whole),
			Enrichments: []byte(`{"geo":{"city":"x"},"risk.objects":[{"type":"host","value":"h1"},{"type":"user","value":"bo"}],"risk.score":40,"incident_id":"i9"}`),
		})},
		{"a detection of every tactic and techniques", of(graph.Result{Detection: detection(ast.Meta{Title: "T", Tags: everyTactic()}, nil)})},
		{"a detection with a risk score only", of(graph.Result{Detection: detection(ast.Meta{Title: "T"}, nil), Enrichments: []byte(`{"risk.score":-3}`)})},
		{"a detection with a malformed risk", of(graph.Result{
			Detection: detection(ast.Meta{Title: "T"}, nil), Enrichments: []byte(`{"risk.score":"high","risk.objects":[{"type":"user","value":"bo"},{"type":"host"}]}`),
		})},
	}
	for level := ast.LevelInformational; level <= ast.LevelCritical; level++ {
		all = append(all, shape{"a detection of level " + level.String(), of(graph.Result{Detection: detection(ast.Meta{Title: "T", Level: level}, nil)})})
	}
	for _, kind := range []string{"event_count", "value_count", "value_sum", "value_avg", "value_percentile", "value_median", "temporal", "temporal_ordered"} {
		all = append(all, shape{"a result of " + kind, of(graph.Result{Correlation: correlated(tb, kind, "level: high")})})
	}
	events := correlated(tb, "event_count", "tags: [attack.t1110.001]\nowner: team")
	events.Events = [][]byte{[]byte(`{"User":"bo"}`), []byte(`{"n":1.50}`)}
	refs := correlated(tb, "event_count", "")
	refs.Refs = []correlation.EventRef{{Time: 5, ID: "e-1", HasID: true}, {Time: 6}}
	open := Incident{
		ID: "383cec03aede7b76", State: "open", Trigger: "group_wait", FirstSeen: 0, LastSeen: 12, MaxLevel: ast.LevelCritical, ResultCount: 2,
		RuleCounts: map[string]int64{"rule-ssh": 1, "rule-b": 1}, GroupBy: []Selected{{"match.SourceIp", []byte(`"10.0.0.1"`)}, {"match.Port", []byte("22")}, {"match.User", []byte("null")}},
		Refs: []byte(`[{"rule":"rule-ssh","level":"high"},{"rule":"rule-b","level":"critical"}]`),
	}
	resolved := open
	resolved.State, resolved.Trigger = "resolved", "resolved"
	return append(all,
		shape{"a correlation result with events", of(graph.Result{Correlation: events, Enrichments: []byte(`{"risk.score":7,"risk.objects":[]}`)})},
		shape{"a correlation result with references", of(graph.Result{Correlation: refs})},
		shape{"an incident", incident(open)},
		shape{"an incident that is over", incident(resolved)},
		shape{"an incident of entities with results", incident(Incident{
			ID: "0f4f6c0e-0d0b-4c55-8f4e-2b1f3c9d7a11", State: "open", Trigger: "group_interval", FirstSeen: 5, LastSeen: 50, ResultCount: 3,
			RuleCounts: map[string]int64{"rule-ssh": 3}, Entities: []Entities{{"match.SourceIp", []string{"10.0.0.1", "10.0.0.2"}}, {"match.User", []string{"bo"}}},
			Results: []byte(`[{"rule_title":"T","rule_id":null}]`),
		})},
		shape{"an incident with nothing", incident(Incident{ID: "i1", State: "open", Trigger: "repeat"})},
		shape{"a risk incident", risk(RiskIncident{
			ID: "5b0e0b0a-6a3d-4a51-9d7e-0a6a3d4a519d", EntityType: "user", EntityValue: "alice", Trigger: "score", Score: 120, ScoreThreshold: number(100),
			TacticCount: 2, TacticCountThreshold: number(3), Tactics: []string{"execution", "command-and-control"}, Sources: []string{"r1", "r2"}, SourceCount: 2,
			WindowStart: 1000, WindowEnd: 1020, ResultCount: 3, Refs: []byte(`[{"rule":"r1","level":"high","score":40,"timestamp":1000}]`),
		})},
		shape{"a risk incident with nothing", risk(RiskIncident{ID: "i1", EntityType: "host", EntityValue: "h1", Trigger: "tactic_count", Results: []byte("[]")})},
	)
}

func everyTactic() (tags []string) {
	for _, t := range tactics {
		tags = append(tags, "attack."+t.tag)
	}
	return append(tags, "attack.t1059", "attack.t1059.001")
}
