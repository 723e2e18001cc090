package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/sigma/correlation"
)

func TestActors(t *testing.T) {
	restarted := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	parse := actors.Record{
		Name: "parse", Kind: "stage", Parent: "dataflow", State: "running",
		Mailbox:          actors.MailboxRecord{Capacity: 10000, Depth: 3, HighWatermark: 40, ControlCapacity: 64, BlockedSecondsTotal: 1.25},
		BatchesProcessed: 2, EventsProcessed: 9, BusyRatio: 0.5, Workers: 3,
	}
	file := actors.Record{
		Name: "sink:a/b", Kind: "sink", Parent: "delivery", State: "restarting", Restarts: 1,
		LastRestart: &restarted, LastError: "panic: index out of range",
	}
	d := &daemon{records: []actors.Record{parse, file}, detail: map[string]int{"batch_size": 128}}
	s := start(t, d).everything(d)
	record := func(capacity int) string {
		return fmt.Sprintf(`{"name":"parse","kind":"stage","parent":"dataflow","state":"running","mailbox":{"capacity":%d,"depth":3,"high_watermark":40,`+
			`"control_capacity":64,"control_depth":0,"blocked_seconds_total":1.25},"batches_processed":2,"events_processed":9,"restarts":0,"busy_ratio":0.5,"workers":3`, capacity)
	}
	const second = `{"name":"sink:a/b","kind":"sink","parent":"delivery","state":"restarting","mailbox":{"capacity":0,"depth":0,"high_watermark":0,` +
		`"control_capacity":0,"control_depth":0,"blocked_seconds_total":0},"batches_processed":0,"events_processed":0,"restarts":1,` +
		`"last_restart":"2026-03-10T12:00:00Z","last_error":"panic: index out of range","busy_ratio":0,"workers":0`
	const bounds = `{"error":"mailbox_capacity must be an integer from 1 to 1000000"}`
	const one = "/api/v1/actors/parse"
	for _, tc := range []row{
		{"the list", "GET", "/api/v1/actors", "", 200, `{"count":2,"actors":[` + record(10000) + `},` + second + `}]}`},
		{"one, with its detail", "GET", one, "", 200, record(10000) + `,"detail":{"batch_size":128}}`},
		{"a name is decoded once", "GET", "/api/v1/actors/sink%3Aa%2Fb", "", 200, second + `,"detail":{"batch_size":128}}`},
		{"and not twice", "GET", "/api/v1/actors/sink%253Aa", "", 404, `{"error":"no such actor","name":"sink%3Aa"}`},
		{"an unknown one", "GET", "/api/v1/actors/nope", "", 404, `{"error":"no such actor","name":"nope"}`},
		{"one that is nearly known", "GET", "/api/v1/actors/prase", "", 404, `{"error":"no such actor","name":"prase","hint":"did you mean 'parse'?"}`},
		{"the same to be resized", "PATCH", "/api/v1/actors/prase", `{"mailbox_capacity": 5}`, 404, `{"error":"no such actor","name":"prase","hint":"did you mean 'parse'?"}`},
		{"a resize", "PATCH", one, `{"mailbox_capacity": 5}`, 200, record(5) + `}`},
		{"the bounds themselves are in", "PATCH", one, `{"mailbox_capacity":1000000}`, 200, record(1000000) + `}`},
		{"an integer in other spellings", "PATCH", one, `{"mailbox_capacity":50e-1}`, 200, record(5) + `}`},
		{"with a point", "PATCH", one, `{"mailbox_capacity":5.0}`, 200, record(5) + `}`},
		{"zero", "PATCH", one, `{"mailbox_capacity":0}`, 400, bounds},
		{"more than the bound", "PATCH", one, `{"mailbox_capacity":1000001}`, 400, bounds},
		{"a negative number", "PATCH", one, `{"mailbox_capacity":-5}`, 400, bounds},
		{"a string", "PATCH", one, `{"mailbox_capacity":"5"}`, 400, bounds},
		{"a fraction", "PATCH", one, `{"mailbox_capacity":5.5}`, 400, bounds},
		{"null", "PATCH", one, `{"mailbox_capacity":null}`, 400, bounds},
		{"more than an integer holds", "PATCH", one, `{"mailbox_capacity":99999999999999999999}`, 400, bounds},
		{"an empty object", "PATCH", one, `{}`, 400, `{"error":"missing member mailbox_capacity"}`},
		{"another member", "PATCH", one, `{"x":1}`, 400, `{"error":"unknown member \"x\" (want mailbox_capacity)"}`},
		{"names are compared exactly", "PATCH", one, `{"Mailbox_Capacity":5}`, 400, `{"error":"unknown member \"Mailbox_Capacity\" (want mailbox_capacity)"}`},
		{"a list", "PATCH", one, `[5]`, 400, `{"error":"body is not a JSON object"}`},
		{"the value null", "PATCH", one, `null`, 400, `{"error":"body is not a JSON object"}`},
		{"no body", "PATCH", one, ``, 400, `{"error":"body is not a JSON object"}`},
		{"something behind the object", "PATCH", one, `{"mailbox_capacity":5}{}`, 400, `{"error":"body is not one JSON object"}`},
		{"broken UTF-8", "PATCH", one, "{\"mailbox_capacity\":5,\"\xff\":1}", 400, `{"error":"body is not valid UTF-8"}`},
		{"an unknown one cannot be resized", "PATCH", "/api/v1/actors/nope", `{"mailbox_capacity":5}`, 404, `{"error":"no such actor","name":"nope"}`},
		{"the body is judged before the name", "PATCH", "/api/v1/actors/nope", `{}`, 400, `{"error":"missing member mailbox_capacity"}`},
		{
			"a body above 2 MiB", "PATCH", one, `{"mailbox_capacity":5` + strings.Repeat(" ", 2<<20) + `}`, 413,
			`{"error":"request body exceeds maximum size","max_bytes":2097152}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.check(t, s) })
	}
	d.detail = nil
	row{"", "GET", one, "", 200, record(10000) + `,"detail":null}`}.check(t, s)
}

func TestNoActorsIsAnEmptyList(t *testing.T) {
	d := &daemon{}
	row{"", "GET", "/api/v1/actors", "", 200, `{"count":0,"actors":[]}`}.check(t, start(t, d).everything(d))
}

func TestCorrelations(t *testing.T) {
	at := func(n int64) *int64 { return &n }
	d := &daemon{
		views: []correlation.Entry{{
			Index: 0, ID: "c", Title: "C", Type: "event_count", Window: "sliding", TimespanSecs: 60,
			GroupBy: []string{"User"}, RuleRefs: []string{"r"}, Threshold: ">= 3", ActiveGroups: 2,
		}},
		groups: []correlation.GroupEntry{
			{
				CorrelationTitle: "C", CorrelationID: "c", Type: "event_count", GroupKey: []correlation.KeyPart{{Field: "User", Value: new("bob")}}, GroupKeyDisplay: "User=bob",
				Got: new(2.0), Threshold: ">= 3", Entries: 2, Earliest: at(100), Latest: at(110), TimespanSecs: 60, SecondsToEviction: at(50),
				Window: map[string]any{"EventCount": map[string]any{"timestamps": []int64{100, 110}}},
			},
			{
				CorrelationTitle: "C", CorrelationID: "c", Type: "event_count", GroupKey: []correlation.KeyPart{{Field: "User"}}, GroupKeyDisplay: "User=<none>",
				Got: new(0.0), Threshold: ">= 3", TimespanSecs: 60, LastAlert: at(90), SuppressSecs: at(300),
				Window: map[string]any{"EventCount": map[string]any{"timestamps": []int64{}}},
			},
		},
	}
	s := start(t, d).everything(d)
	const view = `{"index":0,"id":"c","title":"C","type":"event_count","timespan_secs":60,"window":"sliding","group_by":["User"],` +
		`"rule_refs":["r"],"threshold":">= 3","active_groups":2}`
	row{"", "GET", "/api/v1/correlations", "", 200, `{"correlations":[` + view + `],"count":1}`}.check(t, s)
	row{"", "GET", "/api/v1/correlations/state?id=c&group=", "", 200, `{"correlations":[` + view + `],"groups":[` +
		`{"correlation_index":0,"correlation_id":"c","correlation_title":"C","type":"event_count","group_key":[{"field":"User","value":"bob"}],` +
		`"group_key_display":"User=bob","got":2,"threshold":">= 3","met":false,"entries":2,"earliest":100,"latest":110,"timespan_secs":60,` +
		`"seconds_to_eviction":50,"window":{"EventCount":{"timestamps":[100,110]}}},` +
		`{"correlation_index":0,"correlation_id":"c","correlation_title":"C","type":"event_count","group_key":[{"field":"User"}],` +
		`"group_key_display":"User=<none>","got":0,"threshold":">= 3","met":false,"entries":0,"timespan_secs":60,"last_alert":90,"suppress_secs":300,` +
		`"window":{"EventCount":{"timestamps":[]}}}],"count":2}`}.check(t, s)
	if want := (correlation.Filter{ID: "c", Limit: pageGroups}); d.filter != want {
		t.Errorf("got filter %+v, want %+v", d.filter, want)
	}
	row{"no correlation has an empty id", "GET", "/api/v1/correlations/state?id=", "", 200, `{"correlations":[],"groups":[],"count":0}`}.check(t, s)
	row{"", "GET", "/api/v1/correlations/state?offset=3&limit=2&window=false", "", 200, `~{"correlations":`}.check(t, s)
	if want := (correlation.Filter{Offset: 3, Limit: 2, NoWindow: true}); d.filter != want {
		t.Errorf("got filter %+v, want %+v", d.filter, want)
	}
	for _, bad := range []string{"offset=-1", "offset=", "limit=0", "limit=abc", "window=no", "limit=1&limit=2"} {
		row{bad, "GET", "/api/v1/correlations/state?" + bad, "", 400, `~{"error":"query parameter '` + bad[:strings.IndexByte(bad, '=')] + `' is `}.check(t, s)
	}
}

func TestFeaturesThatAreOff(t *testing.T) {
	d := &daemon{}
	s := start(t, d).everything(d)
	const (
		fields       = `~{"error":"field observation disabled","hint":"this version does not have it, and no setting turns it on"}`
		schemas      = `~{"error":"schema observation disabled","hint":"this version does not have it, and no setting turns it on"}`
		dispositions = `{"error":"dispositions disabled","hint":"this version does not have it, and no setting turns it on"}`
		grouping     = `~{"error":"incident grouping disabled","hint":"`
	)
	for _, tc := range []row{
		{"correlations", "GET", "/api/v1/correlations", "", 200, `{"correlations":[],"count":0}`},
		{"correlation state", "GET", "/api/v1/correlations/state?id=a&group=b", "", 200, `{"correlations":[],"groups":[],"count":0}`},
		{"correlation state, a parameter twice", "GET", "/api/v1/correlations/state?id=a&id=b", "", 400, `{"error":"query parameter 'id' is given more than once"}`},
		{"silences", "GET", "/api/v1/silences", "", 200, `{"count":0,"silences":[]}`},
		{"making a silence", "POST", "/api/v1/silences", `{"matchers":[{"selector":"rule","value":"x"}]}`, 201, `{"status":"created","id":"made"}`},
		{"incidents", "GET", "/api/v1/incidents", "", 200, `{"count":0,"incidents":[]}`},
		{"an incident", "GET", "/api/v1/incidents/x", "", 503, grouping},
		{"a bundle", "GET", "/api/v1/incidents/x/bundle?format=md", "", 503, grouping},
		{"a bundle in a format nobody knows", "GET", "/api/v1/incidents/x/bundle?format=pdf", "", 400, `~{"error":"unknown bundle format 'pdf'","hint":"`},
		{"formats are case-sensitive", "GET", "/api/v1/incidents/x/bundle?format=JSON", "", 400, `~'JSON'`},
		{"an empty format is one too", "GET", "/api/v1/incidents/x/bundle?format=", "", 400, `~unknown bundle format ''`},
		{"a format twice", "GET", "/api/v1/incidents/x/bundle?format=md&format=md", "", 400, `~'format' is given more than once`},
		{"risk", "GET", "/api/v1/risk", "", 200, `{"count":0,"entities":[]}`},
		{"dispositions", "GET", "/api/v1/dispositions", "", 503, dispositions},
		{"posting dispositions, whatever they are", "POST", "/api/v1/dispositions", "{", 503, dispositions},
		{"fields", "GET", "/api/v1/fields?limit=abc", "", 503, fields},
		{"unknown fields", "GET", "/api/v1/fields/unknown", "", 503, fields},
		{"missing fields", "GET", "/api/v1/fields/missing", "", 503, fields},
		{"resetting fields", "DELETE", "/api/v1/fields/observer", "", 503, fields},
		{"schemas", "GET", "/api/v1/schemas", "", 503, schemas},
		{"resetting schemas", "DELETE", "/api/v1/schemas", "", 503, schemas},
		{"suggestions", "GET", "/api/v1/schemas/suggestions", "", 503, schemas},
		{"tap", "GET", "/api/v1/tap?stage=x", "", 503, `~{"error":"event tap disabled","hint":"`},
		{"tail", "GET", "/api/v1/detections/stream?level=x", "", 503, `~{"error":"detection tail disabled","hint":"`},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.check(t, s) })
	}
}

func TestProfiles(t *testing.T) {
	d := &daemon{}
	s := start(t, d, func(o *Options) { o.Profiling = true }).everything(d)
	for _, tc := range []struct {
		name, target string
		status       int
		want         string // in the body
	}{
		{"the index", "/debug/pprof/", 200, "goroutine"},
		{"the index without a slash", "/debug/pprof", 200, "goroutine"},
		{"the heap", "/debug/pprof/heap", 200, ""},
		{"goroutines as text", "/debug/pprof/goroutine?debug=1", 200, "goroutine profile:"},
		{"ten minutes", "/debug/pprof/profile?seconds=600", 400, `{"error":"query parameter 'seconds' must be at most 60"}`},
		{"61 seconds of a trace", "/debug/pprof/trace?seconds=61", 400, `at most 60`},
		{"61 seconds of the heap", "/debug/pprof/heap?seconds=61", 400, `at most 60`},
		{"seconds that are no number", "/debug/pprof/profile?seconds=x", 400, `'seconds' must be a non-negative integer`},
		{"negative seconds", "/debug/pprof/profile?seconds=-1", 400, `'seconds' must be a non-negative integer`},
		{"seconds twice", "/debug/pprof/profile?seconds=1&seconds=1", 400, `'seconds' is given more than once`},
		{"a profile that does not exist", "/debug/pprof/nope", 404, `{"error":"not found"}`},
		{"an error of the profiler itself", "/debug/pprof/goroutine?debug=1&seconds=1", 400, `{"error":"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := s.do(t, "GET", tc.target, "")
			if got.status != tc.status || !strings.Contains(got.body, tc.want) {
				t.Errorf("got %d %.200s, want %d with %q", got.status, got.body, tc.status, tc.want)
			}
			if ct := got.header.Get("Content-Type"); tc.status >= 400 && ct != "application/json" || ct == "" {
				t.Errorf("got content type %q", ct)
			}
		})
	}
}

func TestARunningProfileEndsWithTheDrain(t *testing.T) {
	d := &daemon{}
	s := start(t, d, func(o *Options) { o.Profiling = true }).everything(d)
	s.Drain() // before it begins is the harder case: nothing may wait
	begin := time.Now()
	if got := s.do(t, "GET", "/debug/pprof/trace?seconds=60", ""); got.status != 200 {
		t.Errorf("got %d, want 200", got.status)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("took %s, want an early end", took)
	}
}

// flaky fails one of its two families.
type flaky struct{ good, bad *prometheus.Desc }

func (c flaky) Describe(ch chan<- *prometheus.Desc) { ch <- c.good; ch <- c.bad }

func (c flaky) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(c.good, prometheus.GaugeValue, 1)
	ch <- prometheus.NewInvalidMetric(c.bad, fmt.Errorf("no value"))
}

func TestAFailingCollectorLeavesOnlyItsFamilyOut(t *testing.T) {
	reg := prometheus.NewRegistry()
	reg.MustRegister(flaky{prometheus.NewDesc("good", "Good.", nil, nil), prometheus.NewDesc("bad", "Bad.", nil, nil)})
	s := start(t, &daemon{}, func(o *Options) { o.Metrics = reg })
	got := s.do(t, "GET", "/metrics", "", "Accept", "application/openmetrics-text", "Accept-Encoding", "gzip")
	if want := "# HELP good Good.\n# TYPE good gauge\ngood 1"; got.status != 200 || got.body != want {
		t.Errorf("got %d %q, want 200 %q", got.status, got.body, want)
	}
	if ct := got.header.Get("Content-Type"); ct != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("got content type %q, want the text format whatever is accepted", ct)
	}
	if log := s.logged(); !strings.Contains(log, "metrics incomplete") {
		t.Errorf("got log %s, want a warning", log)
	}
}
