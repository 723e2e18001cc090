package ocsf

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/graph/step/steptest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestEveryShapeIsAsItWas(t *testing.T) {
	var text strings.Builder
	for _, s := range shapes(t) {
		line := render(t, s.of, 7)
		if !json.Valid([]byte(line)) {
			t.Errorf("%s is no JSON: %s", s.name, line)
		}
		fmt.Fprintf(&text, "# %s\n%s\n", s.name, line)
	}
	name := filepath.Join("testdata", "findings.golden")
	if *update {
		if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(text.String(), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(got) || got[i] != line {
			t.Errorf("line %d of %s differs (-update rewrites it):\n got %s\nwant %s", i+1, name, at(got, i), line)
		}
	}
}

func at(lines []string, i int) string {
	if i >= len(lines) {
		return ""
	}
	return lines[i]
}

// holds reports whether a finding has a value, given as JSON, at a path of keys and
// positions; "absent" wants none.
func holds(tb testing.TB, line, path, want string) {
	tb.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		tb.Fatalf("%v: %s", err, line)
	}
	for key := range strings.SplitSeq(path, "/") {
		switch in := v.(type) {
		case map[string]any:
			next, has := in[key]
			if !has {
				next = absent{}
			}
			v = next
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(in) {
				v = absent{}
			} else {
				v = in[i]
			}
		default:
			v = absent{}
		}
	}
	got := "absent"
	if _, none := v.(absent); !none {
		raw, err := json.Marshal(v)
		if err != nil {
			tb.Fatal(err)
		}
		got = string(raw)
	}
	if got != want {
		tb.Errorf("%s: got %s, want %s in\n%s", path, got, want, line)
	}
}

type absent struct{}

func TestFindings(t *testing.T) {
	tagged := func(tags ...string) graph.Payload {
		return of(graph.Result{Detection: detection(ast.Meta{Title: "T", Level: ast.LevelMedium, Tags: tags}, nil)})
	}
	enriched := func(object string) graph.Payload {
		return of(graph.Result{Detection: detection(ast.Meta{Title: "T"}, nil), Enrichments: []byte(object)})
	}
	timed := func(x *result.Extra) graph.Payload {
		return of(graph.Result{Detection: detection(ast.Meta{Title: "T"}, func(_ *result.Batch, d *result.Detection) { d.Extra = x })})
	}
	counts := func(trigger, state string, level ast.Level, counts map[string]int64) graph.Payload {
		return incident(Incident{ID: "i1", State: state, Trigger: trigger, MaxLevel: level, FirstSeen: 10, LastSeen: 20, RuleCounts: counts})
	}
	about := func(i Incident) graph.Payload {
		i.ID, i.State, i.Trigger = "i1", "open", "group_wait"
		return incident(i)
	}
	entity := func(trigger, kind string) graph.Payload {
		return risk(RiskIncident{ID: "r", Trigger: trigger, EntityType: kind, EntityValue: "h1", WindowStart: 5, WindowEnd: 6, Score: 7})
	}
	for _, tc := range []struct {
		name string
		of   graph.Payload
		want map[string]string
	}{
		{"a detection of level medium", tagged("attack.T1110", "attack.credential-access", "cve.2024.1"), map[string]string{
			"type_uid": "200401", "activity_id": "1", "severity_id": "3", "severity": `"Medium"`, "status_id": "1", "status": `"New"`,
			"finding_info/attacks":      `[{"technique":{"uid":"T1110"}},{"tactic":{"name":"Credential Access","uid":"TA0006"}}]`,
			"finding_info/analytic/uid": "absent", "unmapped/tags": `["attack.T1110","attack.credential-access","cve.2024.1"]`,
			"finding_info/uid": `"msg_0f4f6c0e0d0b4c558f4e2b1f3c9d7a11_0003_0"`, "metadata/uid": `"msg_0f4f6c0e0d0b4c558f4e2b1f3c9d7a11_0003_1"`,
			"metadata/product/version": `"1.4.0"`, "evidences": "absent",
		}},
		{"the time of the event", timed(&result.Extra{HasTime: true, Time: 1720614600}), map[string]string{"time": "1720614600000", "unmapped/timestamp": "absent"}},
		{"the time of the event that results tell", timed(&result.Extra{HasTime: true, Told: true, Time: 1720614600}), map[string]string{"time": "1720614600000"}},
		{"a time before 1970", timed(&result.Extra{HasTime: true, Time: -1}), map[string]string{"time": "-1000"}},
		{"the first second of 1970", timed(&result.Extra{HasTime: true}), map[string]string{"time": "0"}},
		{"the delivery's time where none is known", timed(nil), map[string]string{"time": "1773100800000"}},
		{"tags that say nothing of ATT&CK", tagged("attack.t110", "attack.g0007", "attack.t1110.01", "attack.", "attack.t", "attack.t1110.", "attack.t11100", "attack.tabcd", "t1110"), map[string]string{
			"finding_info/attacks": "absent",
		}},
		{"tags that say the same", tagged("attack.t1110", "ATTACK.T1110", "attack.t1110.001", "attack.Command_and-Control", "attack.command-and-control"), map[string]string{
			"finding_info/attacks": `[{"technique":{"uid":"T1110"}},{"sub_technique":{"uid":"T1110.001"}},{"tactic":{"name":"Command and Control","uid":"TA0011"}}]`,
		}},
		{"risk", enriched(`{"risk.score":40,"risk.objects":[{"type":"host","value":"h1"},{"type":"user","value":"bo"},{"type":"user","value":"al"}],"incident_id":"i9"}`), map[string]string{
			"risk_score": "40", "resources": `[{"name":"h1","type":"host"},{"name":"bo","type":"user"},{"name":"al","type":"user"}]`,
			"actor": `{"user":{"name":"bo"}}`, "unmapped/enrichments": `{"incident_id":"i9"}`,
		}},
		{"risk and nothing else", enriched(`{"risk.score":40,"risk.objects":[{"type":"host","value":"h1"}]}`), map[string]string{
			"risk_score": "40", "actor": "absent", "unmapped/enrichments": "absent",
		}},
		{"an object without a value", enriched(`{"risk.objects":[{"type":"user","value":"bo"},{"type":"host"}]}`), map[string]string{
			"resources": "absent", "actor": "absent", "unmapped/enrichments": `{"risk.objects":[{"type":"user","value":"bo"},{"type":"host"}]}`,
		}},
		{"an object whose value is no text", enriched(`{"risk.objects":[{"type":"user","value":7}]}`), map[string]string{
			"resources": "absent", "unmapped/enrichments": `{"risk.objects":[{"type":"user","value":7}]}`,
		}},
		{"objects that are none", enriched(`{"risk.objects":["bo"]}`), map[string]string{"resources": "absent", "unmapped/enrichments": `{"risk.objects":["bo"]}`}},
		{"no objects", enriched(`{"risk.objects":[]}`), map[string]string{"resources": "absent", "unmapped/enrichments": `{"risk.objects":[]}`}},
		{"an object that says more is in both places", enriched(`{"risk.objects":[{"type":"user","value":"bo","x":1}]}`), map[string]string{
			"resources": `[{"name":"bo","type":"user"}]`, "unmapped/enrichments": `{"risk.objects":[{"type":"user","value":"bo","x":1}]}`,
		}},
		{"a score with a fraction", enriched(`{"risk.score":40.0}`), map[string]string{"risk_score": "absent", "unmapped/enrichments": `{"risk.score":40.0}`}},
		{"a score that is text", enriched(`{"risk.score":"40"}`), map[string]string{"risk_score": "absent", "unmapped/enrichments": `{"risk.score":"40"}`}},
		{"a score within another enrichment", enriched(`{"x":{"risk.score":40}}`), map[string]string{"risk_score": "absent", "unmapped/enrichments": `{"x":{"risk.score":40}}`}},
		{"enrichments that are empty", enriched(`{}`), map[string]string{"unmapped/enrichments": "absent"}},
		{"several fields of one name", of(graph.Result{Detection: detection(ast.Meta{Title: "T"}, func(b *result.Batch, d *result.Detection) {
			d.Fields = b.FieldList([]result.Field{{Name: "a", Value: []byte("1")}, {Name: "b", Value: []byte("2")}, {Name: "a", Value: []byte("3")}})
		})}), map[string]string{
			"evidences":               `[{"data":{"matched_fields":{"a":3,"b":2}}}]`,
			"unmapped/matched_fields": `[{"field":"a","value":1},{"field":"b","value":2},{"field":"a","value":3}]`,
		}},
		{"an incident that repeats", counts("repeat", "open", ast.LevelNone, map[string]int64{"b": 4, "a": 4, "c": 1}), map[string]string{
			"finding_info/title": `"a and 2 other rules"`, "message": `"a and 2 other rules"`, "activity_id": "2", "activity_name": `"Update"`, "severity_id": "0",
			"finding_info/related_analytics": `[{"name":"a","type":"Rule","type_id":1},{"name":"b","type":"Rule","type_id":1},{"name":"c","type":"Rule","type_id":1}]`,
			"metadata/uid":                   `"0f4f6c0e-0d0b-4c55-8f4e-2b1f3c9d7a11"`, "finding_info/uid": `"i1"`,
		}},
		{"an incident that is over", counts("resolved", "resolved", ast.LevelHigh, map[string]int64{"a": 1, "b": 2}), map[string]string{
			"type_uid": "200403", "type_name": `"Detection Finding: Close"`, "status_id": "4", "status": `"Resolved"`, "start_time": "10000", "end_time": "20000",
			"time": "1773100800000", "finding_info/title": `"b and 1 other rule"`,
		}},
		{"an incident of one rule", counts("group_interval", "open", ast.LevelHigh, map[string]int64{"a": 1}), map[string]string{
			"activity_id": "2", "finding_info/title": `"a"`, "unmapped/refs": "absent", "unmapped/results": "absent",
		}},
		{"an incident without rules", about(Incident{GroupBy: []Selected{{"match.a", []byte(`"x\"y"`)}, {"match.b", []byte(`[1]`)}}, Entities: []Entities{{"match.c", []string{"z"}}}}), map[string]string{
			"activity_id": "1", "finding_info/title": `"incident for match.a=x\"y, match.b=[1], match.c=z"`, "finding_info/related_analytics": "absent",
			"resources": `[{"name":"x\"y","type":"match.a"},{"name":"[1]","type":"match.b"},{"name":"z","type":"match.c"}]`,
		}},
		{"an incident without rules and keys", about(Incident{}), map[string]string{"finding_info/title": `"incident i1"`, "resources": "absent", "unmapped/rule_counts": "absent"}},
		{"an incident whose samples are empty", about(Incident{Refs: []byte("[]"), Results: []byte("[]")}), map[string]string{"unmapped/refs": "[]", "unmapped/results": "[]"}},
		{"a risk incident of tactics", entity("tactic_count", "host"), map[string]string{
			"finding_info/title": `"tactic-count threshold crossed for host h1"`, "actor": "absent", "severity": `"Unknown"`, "severity_id": "0",
			"resources": `[{"name":"h1","type":"host"}]`, "time": "6000", "start_time": "5000", "end_time": "6000", "risk_score": "7",
			"unmapped/score_threshold": "absent", "unmapped/tactic_count_threshold": "absent",
		}},
		{"a risk incident of a score", entity("score", "user"), map[string]string{
			"finding_info/title": `"risk threshold crossed for user h1"`, "actor": `{"user":{"name":"h1"}}`, "finding_info/analytic/name": `"risk accumulator"`,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			line := render(t, tc.of, 3)
			for path, want := range tc.want {
				holds(t, line, path, want)
			}
			if strings.Contains(line, ":null") {
				t.Errorf("a key without a value is there: %s", line)
			}
		})
	}
}

func TestARecordThatIsNoFindingStaysNative(t *testing.T) {
	const line = `{"rule_title":"T","enrichments":{"dedup_state":"repeat"}}`
	if got := render(t, graph.Payload{Record: sidecar(line)}, 0); got != line {
		t.Errorf("got %s, want the native line", got)
	}
}

func TestDeadLettersShowNativeLines(t *testing.T) {
	d := graph.Result{Detection: detection(ast.Meta{Title: "T"}, nil)}
	const lines = `[{"rule_title":"T","rule_id":null,"level":null,"tags":[],"matched_selections":[],"matched_fields":[]}]`
	for _, tc := range []struct {
		name string
		set  graph.ResultSet
		want string
	}{
		{"of a result", graph.ResultSet{Results: []graph.Result{d}}, lines},
		{"of an incident", graph.ResultSet{Record: incidentRecord{`{"incident_id":"i1"}`, Incident{ID: "i1"}}}, `{"incident_id":"i1"}`},
		{"of a summary", graph.ResultSet{Record: sidecar(`{"x":1}`)}, `{"x":1}`},
	} {
		rendered := steptest.Bundles(step.NewRender([]graph.Form{New(version)}), &tc.set, envelope().ID, arrival)
		if got := string(rendered[0].Sets[0].AppendOriginal(nil, 0, 1)); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestNumbersOfResultsHaveFourDigits(t *testing.T) {
	p := of(graph.Result{Detection: detection(ast.Meta{Title: "T"}, nil)})
	for index, want := range map[int]string{0: "0000", 9: "0009", 10: "0010", 999: "0999", 1000: "1000", 9999: "9999", 12345: "12345"} {
		holds(t, render(t, p, index), "finding_info/uid", `"msg_0f4f6c0e0d0b4c558f4e2b1f3c9d7a11_`+want+`_0"`)
	}
}

func TestManyTagsAndFieldsAreToldOnce(t *testing.T) {
	const many = 1000
	var tags []string
	var fields []result.Field
	for i := range 2 * many {
		tags = append(tags, fmt.Sprintf("attack.t%04d", i%many))
		fields = append(fields, result.Field{Name: fmt.Sprint("f", i%many), Value: []byte(fmt.Sprint(i))})
	}
	line := render(t, of(graph.Result{Detection: detection(ast.Meta{Title: "T", Tags: tags}, func(b *result.Batch, d *result.Detection) { d.Fields = b.FieldList(fields) })}), 0)
	if got := strings.Count(line, `{"technique":`); got != many {
		t.Errorf("%d techniques, want %d", got, many)
	}
	holds(t, line, "finding_info/attacks/999", `{"technique":{"uid":"T0999"}}`)
	holds(t, line, "finding_info/attacks/1000", "absent")
	holds(t, line, "evidences/0/data/matched_fields/f7", "1007")
	if got := strings.Count(line, `"f7":`); got != 1 {
		t.Errorf("field f7 is told %d times, want once", got)
	}
}

func TestFormsOfOneBuildAreEqual(t *testing.T) {
	var one, same, other graph.Form = New("1"), New("1"), New("2")
	if one != same || one == other || one.Native() || !one.Accepts(graph.Payload{}) {
		t.Errorf("forms %v, %v and %v: want the first two equal, and all to accept what is not native", one, same, other)
	}
	if one, same := (step.Pretty{Of: one}), (step.Pretty{Of: same}); graph.Form(one) != graph.Form(same) {
		t.Error("indented forms of one build differ")
	}
}

func TestIndentedFindingsSayTheSame(t *testing.T) {
	for _, s := range shapes(t) {
		m := &graph.Message{Envelope: envelope(), Index: 7}
		got, err := step.Pretty{Of: New(version)}.Append(nil, s.of, m)
		if err != nil {
			t.Fatal(err)
		}
		line := render(t, s.of, 7)
		if s.of.Record != nil {
			if string(got) != line {
				t.Errorf("%s: a record is indented: %s", s.name, got)
			}
			continue
		}
		if !strings.HasPrefix(string(got), "{\n  \"action_id\": 0,\n") {
			t.Errorf("%s begins with %.40q, want two spaces before each key", s.name, got)
		}
		if compact := strings.NewReplacer("\n", "", "  ", "", `": `, `":`).Replace(string(got)); compact != line {
			t.Errorf("%s: got %s, want %s", s.name, compact, line)
		}
	}
}

func plain() graph.Payload {
	return of(graph.Result{Detection: detection(ast.Meta{
		Title: "Encoded Command", ID: "3f0c7a52", Level: ast.LevelHigh, Tags: []string{"attack.execution", "attack.t1059.001"}, Attributes: map[string]any{"owner": "x"},
	}, func(b *result.Batch, d *result.Detection) {
		d.Selections = result.NewSelections(d.Rule, []string{"sel"})
		d.Fields = b.FieldList([]result.Field{{Name: "Image", Value: []byte(`"a"`)}, {Name: "CommandLine", Value: []byte(`"b"`)}})
		d.Extra = &result.Extra{HasTime: true, Time: 1720614600}
	})})
}

func TestAFindingCostsNoMemory(t *testing.T) {
	correlation := correlated(t, "event_count", "tags: [attack.t1110, attack.execution]")
	correlation.Events = [][]byte{[]byte(`{"a":1}`)}
	for name, p := range map[string]graph.Payload{"a detection": plain(), "a correlation result": of(graph.Result{Correlation: correlation})} {
		var form graph.Form = New(version)
		m, dst := &graph.Message{Envelope: envelope()}, make([]byte, 0, 16<<10)
		if n := testing.AllocsPerRun(100, func() { dst, _ = form.Append(dst[:0], p, m) }); n != 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	}
}

// Rendering for sinks of both formats.
func BenchmarkRender(b *testing.B) {
	for name, forms := range map[string][]graph.Form{"native": {step.Native{}}, "ocsf": {New(version)}, "both": {step.Native{}, New(version)}} {
		b.Run(name, func(b *testing.B) {
			r, set := step.NewRender(forms), &graph.ResultSet{Results: []graph.Result{*plain().Result}}
			b.ReportAllocs()
			for b.Loop() {
				r.Close()
				r.Piece(set, 0, graph.DeliveryID{}, arrival)
				r.Add(graph.Token{})
				for i := range forms {
					r.Begun(i).Release()
				}
			}
		})
	}
}

func BenchmarkForms(b *testing.B) {
	p := plain()
	for _, bench := range []struct {
		name string
		form graph.Form
	}{{"native", step.Native{}}, {"ocsf", New(version)}} {
		b.Run(bench.name, func(b *testing.B) {
			m, dst := &graph.Message{Envelope: envelope()}, make([]byte, 0, 16<<10)
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = bench.form.Append(dst[:0], p, m)
			}
			b.SetBytes(int64(len(dst)))
		})
	}
}
