package load

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
)

const login = `title: Login
id: d-login
name: login_seen
detection: {s: {a: b}, condition: s}
---
title: Exploit
id: d-exploit
detection: {s: {a: c}, condition: s}
---
`

// over is a correlation document with the given block.
func over(title, block string) string {
	return "---\ntitle: " + title + "\nid: " + title + "\ncorrelation: " + block + "\n"
}

func corr(extra string) string {
	return over("c", "{type: event_count, rules: d-login, timespan: 5m, condition: {gte: 3}"+extra+"}")
}

func TestCorrelationErrors(t *testing.T) {
	for _, tc := range []struct{ name, block, want string }{
		{"a timespan that is a number", "{type: event_count, rules: d-login, timespan: 60, condition: {gte: 3}}", "timespan: must be a string, not \"60\""},
		{"a compound timespan", "{type: event_count, rules: d-login, timespan: 1h30m, condition: {gte: 3}}", "timespan: \"1h30m\""},
		{"a timespan without a unit", "{type: event_count, rules: d-login, timespan: '90', condition: {gte: 3}}", "timespan: \"90\""},
		{"a timespan of zero", "{type: event_count, rules: d-login, timespan: 0s, condition: {gte: 3}}", "\"0s\" is zero"},
		{"no timespan", "{type: event_count, rules: d-login, condition: {gte: 3}}", "Missing required field 'timespan'"},
		{"an unknown type", "{type: near, rules: d-login, timespan: 5m, condition: {gte: 3}}", "type: unknown type \"near\""},
		{"no type", "{rules: d-login, timespan: 5m, condition: {gte: 3}}", "Missing required field 'type'"},
		{"no rules", "{type: event_count, timespan: 5m, condition: {gte: 3}}", "Missing required field 'rules'"},
		{"rules without a string", "{type: event_count, rules: [1], timespan: 5m, condition: {gte: 3}}", "Missing required field 'rules'"},
		{"no condition", "{type: event_count, rules: d-login, timespan: 5m}", "Missing required field 'condition'"},
		{"a quoted number", "{type: event_count, rules: d-login, timespan: 5m, condition: {gte: '5'}}", "expected numeric value: 5"},
		{"no operator", "{type: event_count, rules: d-login, timespan: 5m, condition: {field: a}}", "at least one of"},
		{"two numeric fields", "{type: value_sum, rules: d-login, timespan: 5m, condition: {gte: 5, field: [a, b]}}", "a single numeric field is required"},
		{"no field", "{type: value_count, rules: d-login, timespan: 5m, condition: {gte: 5}}", "Missing required field 'field'"},
		{"a percentile of 101", "{type: value_percentile, rules: d-login, timespan: 5m, condition: {gte: 5, field: a, percentile: 101}}", "no number from 0 to 100"},
		{"an extended condition on counts", "{type: event_count, rules: d-login, timespan: 5m, condition: d-login}", "extended condition"},
		{"a bad extended condition", "{type: temporal, rules: d-login, timespan: 5m, condition: d-login and}", "invalid condition"},
		{"an unknown identifier", "{type: temporal, rules: d-login, timespan: 5m, condition: d-login and d-exploit}", "'d-exploit' is no member of rules"},
		{"a session without a gap", "{type: event_count, rules: d-login, timespan: 5m, window: session, condition: {gte: 3}}", "a session window needs a gap"},
		{"a gap without a session", "{type: event_count, rules: d-login, timespan: 5m, gap: 5m, condition: {gte: 3}}", "only for session windows"},
		{"a gap that is a number", "{type: event_count, rules: d-login, timespan: 5m, window: session, gap: 300, condition: {gte: 3}}", "gap: must be a string"},
		{"an unknown window", "{type: event_count, rules: d-login, timespan: 5m, window: hopping, condition: {gte: 3}}", "unknown window \"hopping\""},
		{"an unknown reference", "{type: event_count, rules: nope, timespan: 5m, condition: {gte: 3}}", "unknown rule reference 'nope' in correlation 'c'"},
		{"a title is no reference", "{type: event_count, rules: Login, timespan: 5m, condition: {gte: 3}}", "unknown rule reference 'Login'"},
		{"itself", "{type: event_count, rules: c, timespan: 5m, condition: {gte: 3}}", "c -> c"},
		{"a list", "[a]", "correlation: must be a mapping"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := FromBytes("f.yml", []byte(login+over("c", tc.block)), Options{})
			got := strings.Join(reasons(c), "\n")
			if len(c.Correlations) != 0 || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestCorrelationForms(t *testing.T) {
	load := func(block string) *ast.Correlation {
		t.Helper()
		c := FromBytes("f.yml", []byte(login+over("c", block)), Options{})
		wantReasons(t, c)
		if len(c.Correlations) != 1 {
			t.FailNow()
		}
		return c.Correlations[0]
	}
	got := load("{type: event_count, rules: [d-login, login_seen, d-login], group-by: user, timeframe: 1h, timespan: 5m, condition: {lte: 200, gt: 100.5}}")
	if got.Timespan != 3600 || got.Window != ast.WindowSliding || !reflect.DeepEqual(got.GroupBy, []string{"user"}) {
		t.Errorf("got %+v, want an hour, sliding, by user", got)
	}
	if want := []ast.Member{{Name: "d-login", Spellings: []string{"login_seen"}, Rules: []int{0}}}; !reflect.DeepEqual(got.Members, want) {
		t.Errorf("members %+v, want %+v", got.Members, want)
	}
	if want := []ast.Threshold{{Op: ast.OpLTE, Value: 200, Text: "200"}, {Op: ast.OpGT, Value: 100.5, Text: "100.5"}}; !reflect.DeepEqual(got.Condition.Thresholds, want) {
		t.Errorf("thresholds %+v, want %+v", got.Condition.Thresholds, want)
	}

	got = load("{type: temporal, rules: [d-login, d-exploit, login_seen], timespan: 2w}")
	if th := got.Condition.Thresholds; len(th) != 1 || th[0].Op != ast.OpGTE || th[0].Value != 2 || got.Timespan != 1209600 {
		t.Errorf("an absent condition is %+v, want gte 2, the number of members", th)
	}

	got = load("{type: temporal_ordered, timespan: 1m, condition: d-exploit and not login_seen}")
	if len(got.Members) != 2 || got.Members[0].Name != "d-exploit" || got.Members[1].Rules[0] != 0 {
		t.Errorf("members %+v, want those of the condition", got.Members)
	}
	got = load("{type: temporal, rules: [d-login, d-exploit], timespan: 1m, condition: d-exploit and not login_seen}")
	if text := got.Condition.Expr.Text(); text != "d-exploit and not d-login" || got.Condition.Text != "d-exploit and not login_seen" {
		t.Errorf("bound to %q, want the names of the members", text)
	}

	got = load("{type: value_percentile, rules: d-login, timespan: 1m, condition: {gte: 5, field: a}, aliases: {ip: {d-login: src}}, generate: true, window: session, gap: 1m}")
	if got.Condition.Percentile != 50 || !got.Generate || got.Window != ast.WindowSession || got.Gap != 60 {
		t.Errorf("got %+v, want percentile 50, generate, session, gap 1m", got)
	}
	if want := []ast.Alias{{Name: "ip", Fields: []ast.AliasField{{Rule: "d-login", Field: "src"}}}}; !reflect.DeepEqual(got.Aliases, want) {
		t.Errorf("aliases %+v, want %+v", got.Aliases, want)
	}
}

func TestCorrelationAttributes(t *testing.T) {
	c := FromBytes("f.yml", []byte(login+corr("")+`sluice.window: session
sluice.gap: 30s
sluice.suppress: 10s
sluice.action: reset
sluice.max_correlation_events: '7'
sluice.max_group_entries: 0
sluice.correlation_event_mode: some
custom_attributes: {sluice.suppress: 1m}
`), Options{})
	wantReasons(t, c)
	wantWarnings(t, c, "'sluice.correlation_event_mode' has the unusable value \"some\"", "'sluice.max_group_entries' has the unusable value \"0\"")
	got := c.Correlations[0]
	if got.Window != ast.WindowSession || got.Gap != 30 {
		t.Errorf("window %s, gap %d, want the attributes'", got.Window, got.Gap)
	}
	if s := got.Settings; s.Suppress == nil || *s.Suppress != 60 || s.Action != "reset" || s.MaxEvents != 7 || s.MaxGroupEntries != 0 || s.EventMode != "" {
		t.Errorf("settings %+v, want suppress 60, reset, 7 events", s)
	}
	wantReasons(t, FromBytes("f.yml", []byte(login+corr("")+"sluice.window: round\n"), Options{}), "unknown window \"round\"")
	wantReasons(t, FromBytes("f.yml", []byte(login+corr(", window: session, gap: 1m")+"sluice.window: tumbling\n"), Options{}))
}

func TestEngineDefaultsFromRules(t *testing.T) {
	c := FromBytes("f.yml", []byte("sluice.suppress: 5m\nsluice.timestamp_field: a\n"+named("A")+"---\nsluice.suppress: 1m\nsluice.action: reset\nsluice.timestamp_field: b\n"+named("B")+
		"---\nsluice.action: stop\nsluice.timestamp_field: a\n"+named("C")), Options{})
	wantReasons(t, c)
	wantWarnings(t, c, "rule 'A': attribute 'sluice.suppress' sets the default", "rule 'B': attribute 'sluice.action' sets the default", "unusable value \"stop\"")
	if d := c.Defaults; d.Suppress == nil || *d.Suppress != 300 || d.Action != "reset" || !reflect.DeepEqual(d.TimestampFields, []string{"b", "a"}) {
		t.Errorf("defaults %+v, want 5m of A, reset of B, fields b a", d)
	}
}

func TestRulesOfEveryKindNameTimestampFields(t *testing.T) {
	c := FromBytes("f.yml", []byte("title: F\nsluice.timestamp_field: f\nfilter: {rules: any, s: {b: c}, condition: not s}\n"+
		corr("")+"sluice.timestamp_field: c\n---\nsluice.timestamp_field: a\nid: d-login\n"+named("A")), Options{})
	wantReasons(t, c)
	if got, want := c.Defaults.TimestampFields, []string{"c", "f", "a"}; !reflect.DeepEqual(got, want) {
		t.Errorf("fields %q, want %q: those of correlations before those of filters before those of detections", got, want)
	}
}

func TestChains(t *testing.T) {
	link := func(name, ref string) string {
		return over(name, "{type: event_count, rules: "+ref+", timespan: 5m, condition: {gte: 2}}")
	}
	c := FromBytes("f.yml", []byte(login+link("top", "low")+link("low", "d-login")), Options{})
	wantReasons(t, c)
	if got := c.Correlations[0].Members[0]; !reflect.DeepEqual(got.Correlations, []int{1}) || got.Rules != nil {
		t.Errorf("top refers to %+v, want correlation 1", got)
	}

	c = FromBytes("f.yml", []byte(login+link("a", "b")+link("b", "a")+link("above", "a")+link("free", "d-login")), Options{})
	wantReasons(t, c, "a -> b -> a", "a -> b -> a", "unknown rule reference 'a' in correlation 'above': f.yml document 4")
	if len(c.Correlations) != 1 || c.Correlations[0].Title != "free" {
		t.Errorf("usable %v, want free alone", c.Correlations)
	}

	// A correlation over a faulty document is rejected too, and so is what refers to it.
	c = FromBytes("d.yml", []byte("title: D\nid: d\ndetection: {s: {C|re: '['}, condition: s}\n"+link("x", "d")+link("y", "x")), Options{})
	wantReasons(t, c, "invalid regex", "unknown rule reference 'd' in correlation 'x': d.yml document 1", "unknown rule reference 'x' in correlation 'y': d.yml document 2")

	// Wherever it stands, the cause is told first.
	c = FromBytes("d.yml", []byte(link("y", "x")+link("x", "d")+"---\ntitle: D\nid: d\ndetection: {s: {C|re: '['}, condition: s}\n"), Options{})
	wantReasons(t, c, "invalid regex", "unknown rule reference 'd' in correlation 'x': d.yml document 3", "unknown rule reference 'x' in correlation 'y': d.yml document 2")

	long := login + link("c0", "d-login")
	for i := range 11 {
		long += link(fmt.Sprintf("c%d", i+1), fmt.Sprintf("c%d", i))
	}
	c = FromBytes("f.yml", []byte(long), Options{})
	wantReasons(t, c)
	wantWarnings(t, c, "'c11' is 11 correlation levels above")
}

func TestCorrelationsOverSkippedRules(t *testing.T) {
	skip := func(r *ast.Rule) (*ast.Rule, Outcome, error) {
		if r.ID == "d-login" {
			return r, Outcome{}, fmt.Errorf("Pipeline rule failure: nope (rule: %s): %w", r.Title, ErrSkip)
		}
		return r, Outcome{}, errors.New("hash failure")
	}
	c := FromBytes("f.yml", []byte(login+corr("")), Options{Transform: skip})
	wantReasons(t, c, "hash failure", "refers to rule 'd-login', which a pipeline left out")
	wantWarnings(t, c, "Pipeline rule failure: nope")
}

func TestCorrelationsSeeLogsources(t *testing.T) {
	var got []string
	o := Options{
		Transform: func(r *ast.Rule) (*ast.Rule, Outcome, error) {
			c := *r
			c.Logsource.Service = "sysmon"
			return &c, Outcome{}, nil
		},
		TransformCorrelation: func(c *ast.Correlation, logsources []ast.Logsource) (*ast.Correlation, Outcome, error) {
			for _, l := range logsources {
				got = append(got, c.Title+" "+l.Product+"/"+l.Service)
			}
			return c, Outcome{}, nil
		},
	}
	FromBytes("f.yml", []byte("id: d-login\nlogsource: {product: windows}\n"+named("A")+corr("")+over("up", "{type: event_count, rules: c, timespan: 5m, condition: {gte: 2}}")), o)
	if want := []string{"c windows/", "c windows/sysmon", "up windows/", "up windows/sysmon"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
