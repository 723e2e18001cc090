package webhook_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/result"
)

// load reads one file of webhooks, without a fault.
func load(tb testing.TB, text string, env map[string]string) []*webhook.Webhook {
	tb.Helper()
	dir := tb.TempDir()
	write(tb, dir+"/w.yml", text)
	loaded, faults := webhook.Load([]string{dir}, webhook.LoadOptions{Getenv: vars(env), Policy: egress.Permissive})
	if len(faults) > 0 {
		tb.Fatalf("faults: %v", told(dir, faults))
	}
	return loaded
}

// detection is one with the properties that templates and scopes ask for.
func detection(m ast.Meta, event string, fields ...string) *graph.Result {
	d := &result.Detection{Rule: result.NewRule(0, &ast.Rule{Meta: m})}
	for i := 0; i+1 < len(fields); i += 2 {
		d.Fields = append(d.Fields, result.Field{Name: fields[i], Value: result.AppendJSON(nil, fields[i+1])})
	}
	if event != "" {
		d.Extra = &result.Extra{Event: []byte(event)}
	}
	return &graph.Result{Detection: d}
}

// correlated is a correlation of two groups' values.
func correlated(tb testing.TB, value float64) *graph.Result {
	tb.Helper()
	return correlatedAt(tb, ast.LevelHigh, value)
}

func correlatedAt(tb testing.TB, level ast.Level, value float64) *graph.Result {
	tb.Helper()
	detector, err := sigma.Open(fstest.MapFS{"burst.yml": {Data: []byte(`title: Failed login
id: base
logsource: {category: authentication}
detection:
  selection: {outcome: failure}
  condition: selection
---
title: Burst
id: burst
level: ` + level.String() + `
correlation:
  type: event_count
  rules: [base]
  group-by: [SourceIP, User]
  timespan: 5m
  condition: {gte: 1}
`)}})
	if err != nil {
		tb.Fatal(err)
	}
	found, err := detector.Detect([]byte(`{"outcome":"failure","SourceIP":"203.0.113.4","User":"bob"}`), time.Unix(1773100800, 0))
	if err != nil || len(found.Correlations) != 1 {
		tb.Fatalf("%d correlations, %v", len(found.Correlations), err)
	}
	c := *found.Correlations[0]
	c.Key, c.Value = append([]correlation.Pair(nil), c.Key...), value
	return &graph.Result{Correlation: &c}
}

// rendered renders a result in the form of a webhook.
func rendered(w *webhook.Webhook, r *graph.Result) (string, *graph.Message, error) {
	m := &graph.Message{Envelope: &graph.Envelope{}}
	body, err := w.Form().Append([]byte("before:"), graph.Payload{Result: r}, m)
	return strings.TrimPrefix(string(body), "before:"), m, err
}

func TestBodies(t *testing.T) {
	named := func(title string) *graph.Result { return detection(ast.Meta{Title: title}, "") }
	for _, tc := range []struct {
		name   string
		kind   string
		header string
		body   string
		env    map[string]string
		result *graph.Result
		want   string
	}{
		{"within a JSON string", "detection", "", `{"t":"${detection.rule.title}"}`, nil, named(`a "b" \ c`), `{"t":"a \"b\" \\ c"}`},
		{
			"variables, texts and values in JSON", "detection", "", `{"k":"${K}","t":${detection.rule.title},"e":${detection.event}}`,
			map[string]string{"K": `a"b`},
			detection(ast.Meta{Title: `x"y`}, `{"n":1}`), `{"k":"a\"b","t":"x\"y","e":{"n":1}}`,
		},
		{"variables are texts, what is missing is null", "detection", "", `{"k":${K},"n":${UNSET},"f":${detection.fields.None}}`, map[string]string{"K": "5"}, named("t"), `{"k":"5","n":"","f":null}`},
		{"plain text", "detection", "text/plain", "${detection.rule.title} ${K}", map[string]string{"K": `"c"`}, named(`a "b"`), `a "b" "c"`},
		{"a type of JSON that is configured", "detection", "application/vnd.api+json; charset=utf-8", `"${detection.rule.title}"`, nil, named(`"`), `"\""`},
		{"a type that a variable gives", "detection", "${TYPE}", `"${detection.rule.title}"`, map[string]string{"TYPE": "application/json"}, named(`"`), `"\""`},
		{"an event that is not retained", "detection", "", `{"v":"${detection.event}"}`, nil, named("t"), `{"v":""}`},
		{"a whole number", "correlation", "", `${correlation.aggregated_value}`, nil, correlated(t, 73), "73"},
		{"a fraction", "correlation", "", `${correlation.aggregated_value}`, nil, correlated(t, 3.5), "3.5"},
		{"a group", "correlation", "text/plain", `${correlation.group_key}`, nil, correlated(t, 1), "SourceIP=203.0.113.4,User=bob"},
		{"one value of a group", "correlation", "", `{"u":${correlation.group_key.User}}`, nil, correlated(t, 1), `{"u":"bob"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := "webhooks:\n  - id: w\n    kind: " + tc.kind + "\n    url: https://x/\n    body: '" + tc.body + "'\n"
			if tc.header != "" {
				text += "    headers: {content-type: '" + tc.header + "'}\n"
			}
			got, _, err := rendered(load(t, text, tc.env)[0], tc.result)
			if err != nil || got != tc.want {
				t.Errorf("got %s, %v, want %s", got, err, tc.want)
			}
		})
	}
}

// hostile are values that try to be more than a value.
var hostile = []string{
	"a\r\nX-Evil: 1", "a\nb", "\x00", "\x7f", "a\tb", `"},{"x":"`, `\`, `\u0022`, "${K}", "${detection.rule.id}", "\u2028\u2029", "é", "../../admin", "..", "?a=b#c", "//h/", "@h", "%2e%2e", "\xff\xfe", "a b", "'", "",
}

func TestAddresses(t *testing.T) {
	for _, tc := range []struct {
		name, url, header, value, want, fault string
	}{
		{"a path segment behind a variable", "${BASE}/u/${detection.fields.U}", "a", "b/c", "https://h/a?x/u/b%2Fc", ""},
		{"a whole URL from a variable", "${URL}", "a", "", "https://u:p@h:8443/x?y=z", ""},
		{"a header with a line break", "https://h/", "${detection.fields.U}", "a\r\nX: y", "", "webhook w: header X-A: byte 2 is 0x0d: only visible ASCII characters, spaces and tabs can be sent"},
		{"a header beyond ASCII", "https://h/", "${detection.fields.U}", "é", "", "webhook w: header X-A: byte 1 is 0xc3: only visible ASCII characters, spaces and tabs can be sent"},
		{"a value cannot climb", "https://h/a/${detection.fields.U}/b", "a", "..", "", "webhook w: the URL has the path segment '..', which leads elsewhere"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := load(t, "webhooks:\n  - {id: w, kind: detection, url: '"+tc.url+"', headers: {X-A: '"+tc.header+"'}}\n",
				map[string]string{"BASE": "https://h/a?x", "URL": "https://u:p@h:8443/x?y=z"})[0]
			_, m, err := rendered(w, detection(ast.Meta{}, "", "U", tc.value))
			if tc.fault != "" {
				if err == nil || err.Error() != tc.fault {
					t.Errorf("got %v, want %s", err, tc.fault)
				}
				return
			}
			if err != nil || m.Subject() != tc.want || len(m.Headers()) != 1 || m.Headers()[0].Value != tc.header {
				t.Errorf("got %q %v, %v, want %q", m.Subject(), m.Headers(), err, tc.want)
			}
		})
	}
}

// The client would send no host at all in place of one that is none.
func TestAVariableThatIsNoHostIsNotSent(t *testing.T) {
	w := load(t, "webhooks:\n  - {id: w, kind: detection, url: 'https://h/', headers: {Host: '${HOST}'}}\n", map[string]string{"HOST": "http://a"})[0]
	_, _, err := rendered(w, detection(ast.Meta{}, ""))
	if want := "webhook w: header Host: it has a character that no host has"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestScopes(t *testing.T) {
	whoami := ast.Meta{Title: "Whoami", ID: "r1", Level: ast.LevelHigh, Tags: []string{"attack.t1110"}}
	tagged := func(tag string) ast.Meta { return ast.Meta{Title: "x", Tags: []string{tag}} }
	for _, tc := range []struct {
		name, scope string
		meta        ast.Meta
		want        bool
	}{
		{"no scope", "{}", whoami, true},
		{"another level", "{levels: [critical]}", whoami, false},
		{"a level of several", "{levels: [critical, high]}", whoami, true},
		{"no level passes no list", "{levels: [informational]}", tagged("a"), false},
		{"a prefix keeps its dot", `{tags: ["attack.*"]}`, tagged("attackers.x"), false},
		{"a tag with the prefix", `{tags: ["attack.*"]}`, tagged("attack.t1110"), true},
		{"the prefix alone is none", `{tags: ["attack.*"]}`, tagged("attack"), false},
		{"an entry without a glob is an id", "{rules: [Whoami]}", whoami, false},
		{"a glob over the title", "{rules: ['Whoami*']}", whoami, true},
		{"an id", "{rules: [r1]}", whoami, true},
		{"each list has to match", "{rules: [r1], levels: [low]}", whoami, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := load(t, good+"    scope: "+tc.scope+"\n", nil)[0].Form()
			if got := f.Accepts(graph.Payload{Result: detection(tc.meta, "")}); got != tc.want {
				t.Errorf("admits: %t, want %t", got, tc.want)
			}
			if f.Accepts(graph.Payload{Result: correlated(t, 1)}) {
				t.Error("a correlation is admitted by a webhook for detections")
			}
			if f.Accepts(graph.Payload{Record: record{}}) {
				t.Error("a record is admitted")
			}
		})
	}
}

// record is no result.
type record struct{}

func (record) AppendNative(dst []byte) []byte { return append(dst, "{}"...) }
func (record) Kind() graph.Kind               { return "incident" }
