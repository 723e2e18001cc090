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
				Extra: &Extra{Event: []byte(`{"a":1}`), Time: 1720614600, HasTime: true, Told: true},
			},
			`{"e":1}`,
			`{"rule_title":"Enc <x>","rule_id":"e-1","level":"high","tags":["attack.execution"],"timestamp":"2024-07-10T12:30:00Z",` +
				`"custom_attributes":{"b":{"a":[true,"x"],"z":null},"score":7},"enrichments":{"e":1},"matched_selections":["img","kw"],` +
				`"matched_fields":[{"field":"Image","value":"C:\\PS.exe","selection":"img","matcher":"endswith","pattern":"\\ps.exe",` +
				`"case_sensitive":false,"negated":true},{"field":"n","value":1.50}],"event":{"a":1}}`,
		},
		{
			"a time that is known and not told",
			Detection{Rule: bare, Selections: NewSelections(bare, []string{"s"}), Extra: &Extra{HasTime: true, Time: 1720614600}},
			"",
			`{"rule_title":"T","rule_id":null,"level":null,"tags":[],"matched_selections":["s"],"matched_fields":[]}`,
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
	rule := NewRule(0, &ast.Rule{Meta: ast.Meta{Title: "T"}})
	shared := NewSelections(rule, nil).Detection()
	for _, tc := range []struct {
		name        string
		fill        func(b *Batch)
		least, most int
	}{
		{"a detection that is shared holds nothing", func(b *Batch) { b.Append(shared) }, 0, 0},
		{"a bare detection holds the piece it lies in", func(b *Batch) { b.Add(rule) }, 32, 4 << 10},
		{"the next one lies there, too", func(b *Batch) { b.Add(rule); b.Add(rule) }, 32, 4 << 10},
		{"what few results carry counts with its piece", func(b *Batch) { b.Extra() }, 32, 4 << 10},
		{"a value counts with its piece", func(b *Batch) { b.Bytes(make([]byte, 1000)) }, 1000, 8 << 10},
		{"a long value counts as it is", func(b *Batch) { b.Bytes(make([]byte, 1<<20)) }, 1 << 20, 1<<20 + 4<<10},
		{"entries count", func(b *Batch) { b.FieldList(make([]Field, 1000)) }, 40_000, 80_000},
	} {
		var b Batch
		if tc.fill(&b); b.Held() < tc.least || b.Held() > tc.most {
			t.Errorf("%s: got %d bytes, want between %d and %d", tc.name, b.Held(), tc.least, tc.most)
		}
	}
}
