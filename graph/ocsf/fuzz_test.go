package ocsf

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

// Nothing of a result is lost: its native line can be made of the finding again.
func FuzzAFindingTellsAllOfTheNativeLine(f *testing.F) {
	f.Add("a \"t\"\u2028", "id", uint8(3), "attack.t1110\nattack.impact\n", `{"owner":"x"}`, `{"risk.score":40,"risk.objects":[{"type":"user","value":"bo"}],"x":1}`, "a\nb\na", `[1,"x",null]`, `{"a":1.50}`, int64(1720614600))
	f.Add("", "", uint8(0), "", `{}`, `{"risk.objects":[{"type":"user","value":"bo","x":1}]}`, "", "", "", int64(-1))
	f.Add("\xff<", "i", uint8(5), "ATTACK.T1059.001", `null`, `{"risk.score":1e3,"risk.score":2}`, "k", `{"k":{}}`, `[]`, int64(1)<<62)
	f.Fuzz(func(t *testing.T, title, id string, level uint8, tags, attributes, enrichments, fields, value, event string, seconds int64) {
		seconds %= 1 << 50
		meta := ast.Meta{Title: title, ID: id, Level: ast.Level(level % 6)}
		if tags != "" {
			meta.Tags = strings.Split(tags, "\n")
		}
		_ = decode(attributes, &meta.Attributes)
		var object map[string]any
		if decode(enrichments, &object) != nil || object == nil {
			enrichments = ""
		}
		for _, r := range []graph.Result{
			{Detection: fuzzed(meta, fields, compact(value), compact(event), seconds), Enrichments: compact(enrichments)},
			{Correlation: fuzzedCorrelation(t, meta, fields, compact(event), seconds), Enrichments: compact(enrichments)},
		} {
			if line := render(t, of(r), 7); !json.Valid([]byte(line)) {
				t.Fatalf("no JSON: %s", line)
			}
			var want map[string]any
			native := r.AppendNative(nil)
			if err := decode(string(native), &want); err != nil {
				t.Fatalf("%v: %s", err, native)
			}
			if e, ok := want["enrichments"].(map[string]any); ok && len(e) == 0 {
				delete(want, "enrichments")
			}
			if got := nativeOf(t, render(t, of(r), 7)); !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
	})
}

// decode reads one JSON value and keeps numbers as they are.
func decode(text string, to any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d.Decode(to)
}

// compact returns valid JSON as the engine keeps it, nothing for anything else.
func compact(text string) []byte {
	var b bytes.Buffer
	if text == "" || json.Compact(&b, []byte(text)) != nil {
		return nil
	}
	return []byte(strings.ToValidUTF8(b.String(), "\ufffd"))
}

func fuzzed(meta ast.Meta, names string, value, event []byte, seconds int64) *result.Detection {
	return detection(meta, func(b *result.Batch, d *result.Detection) {
		d.Selections = result.NewSelections(d.Rule, strings.Split(names, "\n"))
		if value != nil {
			for _, name := range strings.Split(strings.ToValidUTF8(names, "\ufffd"), "\n") {
				d.Fields = append(d.Fields, result.Field{Name: name, Value: value, Match: &result.Match{Selection: name, Matcher: "exact"}})
			}
		}
		if event != nil || seconds%2 == 0 {
			d.Extra = &result.Extra{Event: event, HasTime: seconds%2 == 0, Time: seconds}
		}
	})
}

// counting is a correlation, to which each run gives its names.
var counting = load.FromBytes("rules.yml", []byte(`{title: base, name: base, detection: {a: {b: c}, condition: a}}
---
{title: T, correlation: {type: event_count, rules: [base], timespan: 5m, condition: {gte: 2}}}
`), load.Options{})

func fuzzedCorrelation(t *testing.T, meta ast.Meta, names string, event []byte, seconds int64) *correlation.Result {
	t.Helper()
	c := *counting.Correlations[0]
	c.Title, c.ID, c.Level, c.Tags, c.Attributes = meta.Title, meta.ID, meta.Level, meta.Tags, nil
	if len(meta.Attributes) > 0 {
		c.Attributes = map[string]any{"x": meta.Attributes}
	}
	p, err := correlation.Compile([]*ast.Correlation{&c}, counting.Rules, correlation.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &correlation.Result{Rule: p.At(0).Rule, Value: float64(seconds) / 8, Time: seconds}
	for _, name := range strings.Split(names, "\n") {
		r.Key = append(r.Key, correlation.Pair{Field: name, Value: meta.Title})
		r.Refs = append(r.Refs, correlation.EventRef{Time: seconds, ID: name, HasID: name != ""})
	}
	if event != nil {
		r.Events = [][]byte{event, event}
	}
	return r
}

// nativeOf makes a native line of a finding about a result.
func nativeOf(t *testing.T, line string) map[string]any {
	t.Helper()
	var f struct {
		SeverityID int `json:"severity_id"`
		Message    string
		Finding    struct {
			Title    string
			Analytic struct {
				Name string
				UID  *string
			}
		} `json:"finding_info"`
		Evidences []struct{ Data map[string]any }
		Score     json.Number      `json:"risk_score"`
		Resources []map[string]any `json:"resources"`
		Unmapped  map[string]any
	}
	if err := decode(line, &f); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if f.Message != f.Finding.Title || f.Message != f.Finding.Analytic.Name {
		t.Errorf("titles differ in %s", line)
	}
	native := map[string]any{"rule_title": f.Message, "rule_id": nil, "level": nil, "tags": []any{}}
	if f.Finding.Analytic.UID != nil {
		native["rule_id"] = *f.Finding.Analytic.UID
	}
	if f.SeverityID > 0 {
		native["level"] = ast.Level(f.SeverityID).String()
	}
	for k, v := range f.Unmapped {
		native[k] = v
	}
	enrichments, _ := native["enrichments"].(map[string]any)
	lift := func(key string, v any) {
		if enrichments == nil {
			enrichments = make(map[string]any)
			native["enrichments"] = enrichments
		}
		if _, kept := enrichments[key]; !kept {
			enrichments[key] = v
		}
	}
	if f.Score != "" {
		lift(keyScore, f.Score)
	}
	if len(f.Resources) > 0 {
		var all []any
		for _, r := range f.Resources {
			all = append(all, map[string]any{"type": r["type"], "value": r["name"]})
		}
		lift(keyObjects, all)
	}
	for _, e := range f.Evidences {
		for k, v := range e.Data {
			if k != "matched_fields" { // these are whole in unmapped
				native[k] = v
			}
		}
	}
	return native
}
