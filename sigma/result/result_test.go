package result

import (
	"encoding/json"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
)

func TestNativeLine(t *testing.T) {
	full := NewRule(0, &ast.Rule{Meta: ast.Meta{
		Title: "Enc <x>", ID: "e-1", Level: ast.LevelHigh, Tags: []string{"attack.execution"},
		Attributes: map[string]any{"score": json.Number("7"), "b": map[string]any{"z": nil, "a": []any{true, "x"}}},
	}})
	bare := NewRule(1, &ast.Rule{Meta: ast.Meta{Title: "T"}})
	match := &Match{Selection: "img", Matcher: "endswith", Pattern: `\ps.exe`, HasPattern: true, ShowCase: true, Negated: true}
	for _, tc := range []struct {
		name        string
		d           Detection
		enrichments string
		want        string
	}{
		{
			"no id, level and tags",
			Detection{Rule: bare},
			"",
			`{"rule_title":"T","rule_id":null,"level":null,"tags":[],"matched_selections":[],"matched_fields":[]}`,
		},
		{
			"every part",
			Detection{
				Rule: full, Selections: NewSelections(full, []string{"img", "kw"}), Fields: []Field{{"Image", []byte(`"C:\\PS.exe"`), match}, {"n", []byte("1.50"), nil}},
				Extra: &Extra{Event: []byte(`{"a":1}`), Time: 1720614600, HasTime: true},
			},
			`{"e":1}`,
			`{"rule_title":"Enc <x>","rule_id":"e-1","level":"high","tags":["attack.execution"],"timestamp":"2024-07-10T12:30:00Z",` +
				`"custom_attributes":{"b":{"a":[true,"x"],"z":null},"score":7},"enrichments":{"e":1},"matched_selections":["img","kw"],` +
				`"matched_fields":[{"field":"Image","value":"C:\\PS.exe","selection":"img","matcher":"endswith","pattern":"\\ps.exe",` +
				`"case_sensitive":false,"negated":true},{"field":"n","value":1.50}],"event":{"a":1}}`,
		},
	} {
		got := string(tc.d.AppendNative(nil, []byte(tc.enrichments)))
		if got != tc.want {
			t.Errorf("%s: got\n%s, want\n%s", tc.name, got, tc.want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s: not JSON: %s", tc.name, got)
		}
	}
}

func TestBareDetectionReadsLikeOneThatWasFilled(t *testing.T) {
	rule := NewRule(0, &ast.Rule{Meta: ast.Meta{Title: "T", Attributes: map[string]any{"n": json.Number("1")}}})
	for _, names := range [][]string{nil, {"a"}, {"a", "quo\"ted"}} {
		s := NewSelections(rule, names)
		var b Batch
		b.Append(s.Detection())
		b.Add(rule).Selections = s
		b.Append(s.Detection())
		if b.Len() != 3 || b.At(0) != s.Detection() || b.At(2) != s.Detection() || b.At(1) == s.Detection() {
			t.Fatalf("%q: %d detections, the first %p, the last %p, want three with %p at both ends", names, b.Len(), b.At(0), b.At(2), s.Detection())
		}
		for _, enrichments := range []string{"", `{"e":1}`} {
			got, want := string(b.At(0).AppendNative(nil, []byte(enrichments))), string(b.At(1).AppendNative(nil, []byte(enrichments)))
			if got != want || !json.Valid([]byte(got)) {
				t.Errorf("%q, enrichments %q: got %s, want %s", names, enrichments, got, want)
			}
		}
	}
}

func TestLevelLabel(t *testing.T) {
	if got := NewRule(0, &ast.Rule{}).LevelLabel(); got != "unknown" {
		t.Errorf("got %q, want unknown", got)
	}
}

func TestParseDetail(t *testing.T) {
	for _, d := range []Detail{Off, Summary, Full} {
		if got, err := ParseDetail("  " + d.String() + " "); err != nil || got != d {
			t.Errorf("%s: got %v, %v", d, got, err)
		}
	}
	if _, err := ParseDetail("all"); err == nil {
		t.Error("an unknown level was accepted")
	}
}

func TestBatchKeepsWhatWasRead(t *testing.T) {
	var b Batch
	rule := NewRule(0, &ast.Rule{Meta: ast.Meta{Title: "T"}})
	var firsts []*Detection
	for range 1000 {
		d := b.Add(rule)
		d.Selections = NewSelections(rule, []string{"a", "b"})
		d.Fields = b.FieldList([]Field{{Name: "f", Value: b.Bytes([]byte(`"v"`))}})
		firsts = append(firsts, d)
	}
	want := `{"rule_title":"T","rule_id":null,"level":null,"tags":[],"matched_selections":["a","b"],"matched_fields":[{"field":"f","value":"v"}]}`
	for i, d := range firsts {
		if b.At(i) != d {
			t.Fatalf("detection %d moved", i)
		}
		if got := string(d.AppendNative(nil, nil)); got != want {
			t.Fatalf("detection %d: got %s, want %s", i, got, want)
		}
	}
	b.Truncate(10)
	if b.Len() != 10 {
		t.Errorf("%d detections are left, want 10", b.Len())
	}
	if got := b.Add(rule); len(got.Fields) != 0 || b.Len() != 11 {
		t.Errorf("after truncating, a new detection has %d fields and the batch %d detections", len(got.Fields), b.Len())
	}
}

func TestABatchTellsWhatItsDetectionsHold(t *testing.T) {
	var b Batch
	s := NewSelections(NewRule(0, &ast.Rule{Meta: ast.Meta{Title: "T"}}), nil)
	b.Append(s.Detection())
	if b.Held() != 0 {
		t.Errorf("a detection that is shared holds %d bytes, want none", b.Held())
	}
	b.Add(s.Detection().Rule)
	bare := b.Held()
	b.Add(s.Detection().Rule).Fields = b.FieldList([]Field{{Name: "f", Value: b.Bytes(make([]byte, 1000))}})
	if heavy := b.Held() - bare; bare < 32 || heavy < bare+1000 || heavy > bare+1100 {
		t.Errorf("a bare detection holds %d bytes, one with a value of 1000 bytes %d", bare, heavy)
	}
}
