package otlp

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/otlp"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var delivered = time.Unix(1_767_225_600, 123_456_789)

// rule returns a rule with all that a result says of one.
func rule(title string, level ast.Level) *result.Rule {
	return result.NewRule(0, &ast.Rule{Meta: ast.Meta{
		Title: title, ID: "3f0c7a52-6f5d-4f0e-8b0e-0a4c7d1e5b11", Level: level, Tags: []string{"attack.execution", "attack.t1059.001"},
		Attributes: map[string]any{"owner": "soc", "score": json.Number("7"), "deep": []any{nil, true, map[string]any{"a": json.Number("1.5")}}},
	}})
}

func detection(r *result.Rule, selections []string, fields []result.Field, extra *result.Extra) *result.Detection {
	d := &result.Detection{Rule: r, Fields: fields, Extra: extra}
	if selections != nil {
		d.Selections = result.NewSelections(r, selections)
	}
	return d
}

var fullMatch = &result.Match{Selection: "sel", Matcher: "endswith", Pattern: `\ps.exe`, HasPattern: true, ShowCase: true, Negated: true}

// results are of every shape.
func results() map[string]graph.Result {
	fields := []result.Field{
		{Name: "Image", Value: []byte(`"C:\\Windows\\ps.exe"`), Match: fullMatch},
		{Name: "EventID", Value: []byte("4688")},
		{Name: "ratio", Value: []byte("1.50")},
		{Name: "list", Value: []byte(`["a",{"b":null}]`), Match: &result.Match{Selection: "sel", Matcher: "exact", ShowCase: true, CaseSensitive: true}},
	}
	bare := result.NewRule(1, &ast.Rule{Meta: ast.Meta{Title: "T"}})
	return map[string]graph.Result{
		"a detection":             {Detection: detection(rule("Suspicious PowerShell", ast.LevelHigh), []string{"sel", "other"}, fields, nil)},
		"no id, level and tags":   {Detection: detection(bare, []string{}, nil, nil)},
		"no selections at all":    {Detection: detection(bare, nil, fields[1:2], nil)},
		"every part":              {Detection: detection(rule("All <of> it", ast.LevelCritical), []string{"sel"}, fields, &result.Extra{Event: []byte(`{"a":{"b":[1]},"c":"é"}`), HasTime: true, Told: true, Time: 1_700_000_000}), Enrichments: []byte(`{"geo":{"lat":1.25},"n":null}`)},
		"a deep value":            {Detection: detection(bare, []string{"x"}, []result.Field{{Name: "f", Value: []byte(strings.Repeat(`[{"a":`, 20) + `"\""` + strings.Repeat("}]", 20))}}, nil)},
		"a time alone":            {Detection: detection(bare, []string{"x"}, nil, &result.Extra{HasTime: true, Told: true, Time: 1})},
		"names that are no UTF-8": {Detection: detection(bare, []string{"x"}, []result.Field{{Name: "a\xff\xfe", Value: []byte(`"x"`), Match: &result.Match{Selection: "\xff", Matcher: "exact", Pattern: "\xe2\x82", HasPattern: true}}}, nil)},
	}
}

// correlated returns the result of a correlation.
func correlated(tb testing.TB) graph.Result {
	tb.Helper()
	rules := load.FromBytes("rules.yml", []byte("title: Login\nid: d-login\nlogsource: {category: auth}\ndetection: {s: {kind: login}, condition: s}\n---\n"+
		"title: Brute force\nid: c\nlevel: medium\ntags: [attack.t1110]\ncorrelation: {type: event_count, rules: d-login, group-by: [user, n], timespan: 60s, condition: {gte: 3}}\n"), load.Options{})
	p, err := correlation.Compile(rules.Correlations, rules.Rules, correlation.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return graph.Result{Correlation: &correlation.Result{
		Rule: p.At(0).Rule, Key: []correlation.Pair{{Field: "user", Value: "ann"}, {Field: "n", Value: "1.50"}}, Value: 3, Time: 1_700_000_000,
		Events: [][]byte{[]byte(`{"kind":"login","n":1.50}`)}, Refs: []correlation.EventRef{{Time: 5, ID: "e-1", HasID: true}, {Time: 6}},
	}, Enrichments: []byte(`{"e":1}`)}
}

// record is the log record of r.
func record(tb testing.TB, r graph.Result) []byte {
	tb.Helper()
	m := &graph.Message{Envelope: &graph.Envelope{Time: delivered}, Kind: r.Kind()}
	got, err := Form{}.Append([]byte("before"), graph.Payload{Result: &r}, m)
	if err != nil {
		tb.Fatal(err)
	}
	got, found := bytes.CutPrefix(got, []byte("before"))
	if !found {
		tb.Error("what was there before is gone")
	}
	return got
}

// allResults are results of every shape, correlations included.
func allResults(tb testing.TB) map[string]graph.Result {
	tb.Helper()
	all := results()
	all["a correlation"] = correlated(tb)
	return all
}

func TestRecordsAreWhatTheyWere(t *testing.T) {
	const golden = "testdata/records.golden"
	var got bytes.Buffer
	all := allResults(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var read logspb.LogRecord
		if err := proto.Unmarshal(record(t, all[name]), &read); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, err := protojson.Marshal(&read)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "# %s\n", name)
		if err := json.Indent(&got, text, "", "  "); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
	}
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs\ngot:\n%s\nwant:\n%s", golden, got.Bytes(), want)
	}
}

// wantOfLine checks a record against the native line of the same result.
func wantOfLine(tb testing.TB, name string, r graph.Result) {
	tb.Helper()
	level, title := ast.LevelNone, ""
	if r.Detection != nil {
		level, title = r.Detection.Rule.Level, r.Detection.Rule.Title
	} else {
		level, title = r.Correlation.Rule.Level, r.Correlation.Rule.Title
	}
	want := otlp.AppendTime(nil, delivered)
	want = appendRule(want, level, title)
	want, err := otlp.AppendAttributes(want, r.AppendNative(nil))
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	want = otlp.AppendObservedTime(want, delivered)
	got := record(tb, r)
	if !bytes.Equal(got, want) {
		tb.Errorf("%s: the record is not that of the native line %s:\n got %x\nwant %x", name, r.AppendNative(nil), got, want)
	}
	var read logspb.LogRecord
	if err := proto.Unmarshal(got, &read); err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	again, err := proto.Marshal(&read)
	if err != nil || !bytes.Equal(got, again) {
		tb.Errorf("%s: read and written again it is another one: %v\n got %x\nwant %x", name, err, got, again)
	}
}

func TestARecordHasEveryMemberOfTheNativeLine(t *testing.T) {
	for name, r := range allResults(t) {
		wantOfLine(t, name, r)
		wantOfLine(t, name+", again", r) // by what its rule kept
	}
}

func TestLevelsAreSeverities(t *testing.T) {
	for _, tc := range []struct {
		level  ast.Level
		number logspb.SeverityNumber
		text   string
	}{
		{ast.LevelCritical, 21, "FATAL"},
		{ast.LevelHigh, 17, "ERROR"},
		{ast.LevelMedium, 13, "WARN"},
		{ast.LevelLow, 9, "INFO"},
		{ast.LevelInformational, 5, "DEBUG"},
		{ast.LevelNone, 0, ""},
	} {
		r := graph.Result{Detection: detection(rule("Title", tc.level), []string{"s"}, nil, nil)}
		var got logspb.LogRecord
		if err := proto.Unmarshal(record(t, r), &got); err != nil {
			t.Fatal(err)
		}
		if got.SeverityNumber != tc.number || got.SeverityText != tc.text || got.Body.GetStringValue() != "Title" {
			t.Errorf("%s: got %d %q with body %q, want %d %q with the title", tc.level, got.SeverityNumber, got.SeverityText, got.Body, tc.number, tc.text)
		}
		if slices.ContainsFunc(got.Attributes, func(a *commonpb.KeyValue) bool { return a.Key == "correlation_type" }) {
			t.Error("a detection has a correlation_type")
		}
		if at := uint64(delivered.UnixNano()); got.TimeUnixNano != at || got.ObservedTimeUnixNano != at {
			t.Errorf("times %d and %d, want %d, that of the delivery", got.TimeUnixNano, got.ObservedTimeUnixNano, at)
		}
	}
}

// note is a record of another stage.
type note struct{}

func (note) AppendNative(dst []byte) []byte { return append(dst, "{}"...) }
func (note) Kind() graph.Kind               { return "incident" }

func TestOnlyResultsAreTaken(t *testing.T) {
	if (Form{}).Accepts(graph.Payload{Record: note{}}) || !(Form{}).Accepts(graph.Payload{Result: &graph.Result{}}) || (Form{}).Native() {
		t.Error("the form has to take results and nothing else")
	}
}

func TestEnrichmentsThatAreNoJSONAreAnError(t *testing.T) {
	r := results()["a detection"]
	r.Enrichments = []byte(`{"a":`)
	if _, err := (Form{}).Append(nil, graph.Payload{Result: &r}, &graph.Message{Envelope: &graph.Envelope{}}); err == nil {
		t.Error("got no error")
	}
}

func TestWritingARecordAllocatesNothing(t *testing.T) {
	for name, r := range allResults(t) {
		if name == "names that are no UTF-8" {
			continue
		}
		dst := make([]byte, 0, 64<<10)
		m := &graph.Message{Envelope: &graph.Envelope{Time: delivered}}
		n := testing.AllocsPerRun(1000, func() {
			if _, err := (Form{}).Append(dst, graph.Payload{Result: &r}, m); err != nil {
				t.Fatal(err)
			}
		})
		limit := 0.0
		if r.Detection == nil || r.Detection.Selections == nil {
			limit = 1 // its line lies in a pool, which a collection may empty
		}
		if n > limit {
			t.Errorf("%s: %v allocations, want at most %v", name, n, limit)
		}
	}
}

// Whatever a result says, its record says it too.
func FuzzARecordEqualsItsNativeLine(f *testing.F) {
	f.Add("Title", "f", "value", "sel", `{"a":[1,"x",null]}`, int64(1_700_000_000), uint8(31))
	f.Add("", "\xff", "\"\\\n", "\u2028", `{}`, int64(-1), uint8(0))
	f.Add("T", "", "", "", `{"a":{"b":{"c":1e999}}}`, int64(0), uint8(255))
	f.Fuzz(func(t *testing.T, title, field, value, selection, object string, seconds int64, shape uint8) {
		if !json.Valid([]byte(object)) || !strings.HasPrefix(object, "{") || !utf8.ValidString(object) {
			return
		}
		rule := result.NewRule(0, &ast.Rule{Meta: ast.Meta{
			Title: strings.ToValidUTF8(title, "?"), ID: selection, Level: ast.Level(shape % 6), Tags: []string{field, value},
			Attributes: map[string]any{field: value, "v": []any{selection, nil, shape%2 == 0}},
		}})
		m := &result.Match{Selection: selection, Matcher: "re", Pattern: value, HasPattern: shape&1 != 0, ShowCase: shape&2 != 0, CaseSensitive: shape&4 != 0, Negated: shape&8 != 0}
		d := detection(rule, []string{selection}, []result.Field{
			{Name: field, Value: event.AppendQuoted(nil, value), Match: m}, {Name: value, Value: []byte(object)}, {Name: "n", Value: []byte("1.0"), Match: m},
		}, nil)
		if shape&16 != 0 {
			d.Extra = &result.Extra{HasTime: shape&32 != 0, Time: seconds % (1 << 33), Event: []byte(object)}
		}
		r := graph.Result{Detection: d}
		if shape&64 != 0 {
			r.Enrichments = []byte(object)
		}
		wantOfLine(t, "fuzzed", r)
	})
}
