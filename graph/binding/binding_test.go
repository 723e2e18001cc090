package binding

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/internal/template"
	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/result"
)

// shell is a detection with everything.
func shell() *graph.Result {
	rule := result.NewRule(0, &ast.Rule{Meta: ast.Meta{
		Title: "Odd shell spawn", ID: "r-os", Level: ast.LevelHigh, Tags: []string{"attack.t1059.001", "attack.execution"},
	}})
	return &graph.Result{
		Detection: &result.Detection{
			Rule: rule,
			Fields: []result.Field{
				{Name: "CommandLine", Value: []byte(`"ps -enc QQ"`)},
				{Name: "Port", Value: []byte(`443`)},
				{Name: "Src", Value: []byte(`"10.0.0.5"`)},
				{Name: "Src", Value: []byte(`"10.0.0.6"`)},
				{Name: "win.user", Value: []byte(`"a\"b\u00e9\\"`)},
				{Name: "Ratio", Value: []byte(`1.50`)},
				{Name: "Null", Value: []byte(`null`)},
				{Name: "Yes", Value: []byte(`true`)},
				{Name: "List", Value: []byte(`["a",{"b":1}]`)},
			},
			Extra: &result.Extra{Event: []byte(`{"User":"alice","ips":["1.1.1.1","2.2.2.2"],"o":{"0":"key","k\u0065y":{"n":7}},"z":null,"x":[[1,2],[3]],"User":"bob"}`)},
		},
		Enrichments: []byte(`{"risk.score": 40, "geo": {"city": "Oslo"}, "geo.country": "NO", "list": [1, 2]}`),
	}
}

// bare is a detection of a rule with no more than a title.
func bare() *graph.Result {
	return &graph.Result{Detection: &result.Detection{Rule: result.NewRule(0, &ast.Rule{Meta: ast.Meta{Title: "T"}})}}
}

const burst = `title: Failed login
id: base
logsource: {category: authentication}
detection:
  selection: {outcome: failure}
  condition: selection
---
title: SSH burst
id: c-ssh
level: medium
tags: [attack.t1110]
correlation:
  type: event_count
  rules: [base]
  group-by: [Src, User]
  timespan: 5m
  condition: {gte: 1}
`

// ssh is a correlation, with another aggregated value.
func ssh(tb testing.TB, value float64) *graph.Result {
	tb.Helper()
	detector, err := sigma.Open(fstest.MapFS{"burst.yml": {Data: []byte(burst)}})
	if err != nil {
		tb.Fatal(err)
	}
	found, err := detector.Detect([]byte(`{"outcome":"failure","Src":"10.0.0.9","User":"root"}`), time.Unix(1773100800, 0))
	if err != nil || len(found.Correlations) != 1 {
		tb.Fatalf("%d correlations, %v", len(found.Correlations), err)
	}
	c := *found.Correlations[0]
	c.Key = append(c.Key[:len(c.Key):len(c.Key)], correlation.Pair{Field: "a.b", Value: `x"y`}, correlation.Pair{Field: "User", Value: "second"})
	c.Value = value
	return &graph.Result{Correlation: &c, Enrichments: []byte(`{"owner":"it"}`)}
}

func TestReferencesToDetections(t *testing.T) {
	t.Setenv("ZONE", "eu")
	t.Setenv("K", `a"b`)
	for _, tc := range []struct {
		name   string
		source string
		place  template.Place
		want   string
	}{
		{"the rule", "${detection.rule.title}|${detection.rule.id}|${detection.rule.level}", template.Plain, "Odd shell spawn|r-os|high"},
		{"a URL with an id", "https://w/${detection.rule.id}", template.URL, "https://w/r-os"},
		{"fields: number and none", "p=${detection.fields.Port};x=${detection.fields.None}", template.Plain, "p=443;x="},
		{"of several fields of one name the first counts", "${detection.fields.Src}", template.Plain, "10.0.0.5"},
		{"a name with dots", "${detection.fields.win.user}", template.Plain, `a"bé\`},
		{"values of every type as text", "${detection.fields.Ratio} ${detection.fields.Null} ${detection.fields.Yes} ${detection.fields.List}", template.Plain, `1.50  true ["a",{"b":1}]`},
		{
			"values of every type as JSON", "[${detection.fields.Ratio},${detection.fields.Null},${detection.fields.Yes},${detection.fields.List},${detection.fields.win.user},${detection.fields.None}]",
			template.JSON, `[1.50,null,true,["a",{"b":1}],"a\"b\u00e9\\",null]`,
		},
		{
			"values of every type within JSON strings", `["${detection.fields.Ratio}","${detection.fields.Null}","${detection.fields.List}","${detection.fields.win.user}"]`,
			template.JSON, `["1.50","","[\"a\",{\"b\":1}]","a\"bé\\"]`,
		},
		{"tags", "${detection.tags}", template.Plain, "attack.t1059.001,attack.execution"},
		{"a path into the event", "${detection.event.User}/${detection.event.ips.1}/${detection.event.ips.9}", template.Plain, "alice/2.2.2.2/"},
		{"a position of an object is a key, and keys may be escaped", "${detection.event.o.0}/${detection.event.o.key.n}/${detection.event.x.0.1}", template.Plain, "key/7/2"},
		{"paths that miss", "${detection.event.ips.User}${detection.event.User.0}${detection.event.z}${detection.event.ips.-1}${detection.event.ips.+1}", template.Plain, ""},
		{"a null in the event and a miss are null", "[${detection.event.z},${detection.event.no.no}]", template.JSON, "[null,null]"},
		{"environment variables and literal text", "a${}b$ZONE-${ZONE}-${UNSET_X}", template.Plain, "a${}b$ZONE-eu-"},
		{"keys of enrichments: as a whole first, then as a path", "${detection.enrichments.risk.score} ${detection.enrichments.geo.country} ${detection.enrichments.geo.city} ${detection.enrichments.geo} ${detection.enrichments.no}", template.Plain, `40 NO Oslo {"city":"Oslo"} `},
		{"enrichments in JSON", `{"s":${detection.enrichments.risk.score},"g":${detection.enrichments.geo},"l":${detection.enrichments.list.1},"n":${detection.enrichments.no}}`, template.JSON, `{"s":40,"g":{"city":"Oslo"},"l":2,"n":null}`},
		{"a value adds no step to a path", "https://a/u/${detection.fields.List}?k=1", template.URL, "https://a/u/%5B%22a%22%2C%7B%22b%22%3A1%7D%5D?k=1"},
		{
			"joined tags and variables are texts in JSON", `{"k":"${K}","j":${K},"t":${detection.tags},"m":${detection.fields.None}}`,
			template.JSON, `{"k":"a\"b","j":"a\"b","t":"attack.t1059.001,attack.execution","m":null}`,
		},
		{
			"the same where nothing is escaped", `{"k":"${K}","j":${K},"t":${detection.tags},"m":${detection.fields.None}}`,
			template.Plain, `{"k":"a"b","j":a"b,"t":attack.t1059.001,attack.execution,"m":}`,
		},
		{"a query", `."${detection.fields.win.user}"`, template.Expression, `."a\u0022bé\u005c"`},
	} {
		parsed, err := Parse(tc.source, "body", graph.KindDetection, "webhook")
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := string(parsed.Append(nil, tc.place, shell())); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestReferencesToCorrelations(t *testing.T) {
	for _, tc := range []struct {
		name   string
		value  float64
		source string
		place  template.Place
		want   string
	}{
		{"the rule", 1, "${correlation.rule.title}|${correlation.rule.id}|${correlation.rule.level}|${correlation.tags}", template.Plain, "SSH burst|c-ssh|medium|attack.t1110"},
		{
			"what was counted", 73, "${correlation.type} ${correlation.aggregated_value}/${correlation.timespan_secs} ${correlation.group_key} ${correlation.group_key.User}",
			template.Plain, `event_count 73/300 Src=10.0.0.9,User=root,a.b=x"y,User=second root`,
		},
		{"a fraction", 3.5, "${correlation.aggregated_value}", template.Plain, "3.5"},
		{"a large whole number", 999999999999999, "${correlation.aggregated_value}", template.Plain, "999999999999999"},
		{"a larger one is a plain decimal, too", 1e21, "${correlation.aggregated_value}", template.Plain, "1000000000000000000000"},
		{"a small one has no exponent", -1e-7, "${correlation.aggregated_value}", template.Plain, "-0.0000001"},
		{"negative zero is zero", math.Copysign(0, -1), "${correlation.aggregated_value}", template.Plain, "0"},
		{
			"as JSON", 73, `[${correlation.type},${correlation.aggregated_value},${correlation.timespan_secs},${correlation.group_key},${correlation.group_key.a.b},${correlation.group_key.no},${correlation.tags},${correlation.rule.level}]`,
			template.JSON, `["event_count",73,300,"Src=10.0.0.9,User=root,a.b=x\"y,User=second","x\"y",null,"attack.t1110","medium"]`,
		},
		{"enrichments", 1, "${correlation.enrichments.owner}", template.Plain, "it"},
	} {
		parsed, err := Parse(tc.source, "body", graph.KindCorrelation, "webhook")
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := string(parsed.Append(nil, tc.place, ssh(t, tc.value))); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestWhatAResultDoesNotHave(t *testing.T) {
	for _, tc := range []struct {
		name, source, text, json string
	}{
		{"an id", "${detection.rule.id}", "", "null"},
		{"a level", "${detection.rule.level}", "", "null"},
		{"tags", "${detection.tags}", "", `""`},
		{"a field", "${detection.fields.x}", "", "null"},
		{"an event", "${detection.event}", "", "null"},
		{"a path into an event", "${detection.event.User}", "", "null"},
		{"enrichments", "${detection.enrichments.x}", "", "null"},
	} {
		parsed, err := Parse(tc.source, "body", graph.KindDetection, "webhook")
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := string(parsed.Append(nil, template.Plain, bare())); got != tc.text {
			t.Errorf("%s as text: got %q, want %q", tc.name, got, tc.text)
		}
		if got := string(parsed.Append(nil, template.JSON, bare())); got != tc.json {
			t.Errorf("%s as JSON: got %q, want %q", tc.name, got, tc.json)
		}
	}
	parsed, err := Parse(`{"v":"${detection.event}"}`, "body", graph.KindDetection, "webhook")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(parsed.Append(nil, template.JSON, bare())); got != `{"v":""}` {
		t.Errorf("an event that is not included, within a string: got %s", got)
	}
}

func TestReferencesThatDoNotExist(t *testing.T) {
	for _, tc := range []struct {
		source string
		kind   graph.Kind
		want   string // empty for none
	}{
		{"${rule.title}", graph.KindDetection, "malformed template reference '${rule.title}' in field 'f'"},
		{"${Detection.tags}", graph.KindDetection, "malformed template reference '${Detection.tags}' in field 'f'"},
		{"${dead_letter.x}", graph.KindDetection, "malformed template reference '${dead_letter.x}' in field 'f'"},
		{"${correlation.type}", graph.KindDetection, "template reference '${correlation.type}' in field 'f' is the wrong namespace for a detection webhook"},
		{"${detection.rule.titel}", graph.KindCorrelation, "template reference '${detection.rule.titel}' in field 'f' is the wrong namespace for a correlation webhook"},
		{"${detection.rule.titel}", graph.KindDetection, "unknown template reference '${detection.rule.titel}' in field 'f'"},
		{"${detection.rule}", graph.KindDetection, "unknown template reference '${detection.rule}' in field 'f'"},
		{"${detection.}", graph.KindDetection, "unknown template reference '${detection.}' in field 'f'"},
		{"${detection.fields}", graph.KindDetection, "unknown template reference '${detection.fields}' in field 'f'"},
		{"${detection.fields.}", graph.KindDetection, "unknown template reference '${detection.fields.}' in field 'f'"},
		{"${detection.event.}", graph.KindDetection, "unknown template reference '${detection.event.}' in field 'f'"},
		{"${detection.enrichments}", graph.KindDetection, "unknown template reference '${detection.enrichments}' in field 'f'"},
		{"${detection.type}", graph.KindDetection, "unknown template reference '${detection.type}' in field 'f'"},
		{"${detection.tags.0}", graph.KindDetection, "unknown template reference '${detection.tags.0}' in field 'f'"},
		{"${correlation.fields.User}", graph.KindCorrelation, "unknown template reference '${correlation.fields.User}' in field 'f'"},
		{"${correlation.event}", graph.KindCorrelation, "unknown template reference '${correlation.event}' in field 'f'"},
		{"${detection}${correlation}", graph.KindDetection, ""},
	} {
		_, err := Parse(tc.source, "f", tc.kind, "webhook")
		if got := message(err); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.source, got, tc.want)
		}
	}
	_, err := Parse("${detection.rule.titel}", "f", graph.KindDetection, "webhook")
	var meant *suggest.Error
	if !errors.As(err, &meant) || meant.Suggestion != "did you mean 'detection.rule.title'?" {
		t.Errorf("what was probably meant: got %#v", err)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRenderingAllocatesNothingPerResult(t *testing.T) {
	dst := make([]byte, 0, 1<<16)
	for kind, tc := range map[graph.Kind]struct {
		source string
		r      *graph.Result
	}{
		graph.KindDetection: {
			`{"t":"${detection.rule.title}","l":${detection.rule.level},"f":"${detection.fields.win.user}","g":${detection.tags},"e":${detection.event},"p":"${detection.event.o.0}","x":${detection.enrichments.geo.city}}`,
			shell(),
		},
		graph.KindCorrelation: {
			`{"t":"${correlation.rule.title}","k":${correlation.group_key},"v":${correlation.aggregated_value},"u":"${correlation.group_key.User}"}`,
			ssh(t, 3.5),
		},
	} {
		parsed, err := Parse(tc.source, "body", kind, "webhook")
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range []template.Place{template.JSON, template.URL, template.Plain} {
			if n := testing.AllocsPerRun(100, func() { dst = parsed.Append(dst[:0], place, tc.r) }); n != 0 {
				t.Errorf("%s, %v: %v allocations per result", kind, place, n)
			}
		}
	}
}

func BenchmarkBodyOfADetection(b *testing.B) {
	parsed, err := Parse(`{"text": "*${detection.rule.title}* on ${detection.fields.Computer} [${detection.rule.level}] ${detection.fields.CommandLine}"}`, "body", graph.KindDetection, "webhook")
	if err != nil {
		b.Fatal(err)
	}
	r := shell()
	r.Detection.Fields = append(r.Detection.Fields, result.Field{Name: "Computer", Value: []byte(`"` + strings.Repeat("host", 3) + `"`)})
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = parsed.Append(dst[:0], template.JSON, r)
	}
}
