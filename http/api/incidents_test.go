package api

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/graph/alert/sample"
	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/graph/selector"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
)

// theIncident is that of the source 10.0.0.1.
const theIncident = "383cec03aede7b76"

func incidentConfig(of string) incident.Config {
	s, err := selector.Parse(of)
	if err != nil {
		panic(err)
	}
	return incident.Config{
		Mode: incident.GroupBy, By: []selector.Selector{s}, Wait: 30, Interval: 300, Resolve: 3600, Include: incident.Refs,
		MaxOpen: 1_000_000, MaxEntities: 1000, MaxResults: 1000, MaxCardinality: 10000,
	}
}

// absorb has the store group a result of a rule and a source at a time.
func absorb(s *incident.Store, rule, ip string, now int64) {
	line := fmt.Sprintf(`{"rule_title":"A rule","rule_id":%q,"level":"high","tags":["attack.t1110"],"matched_selections":["sel"],"matched_fields":[{"field":"SourceIp","value":%q}]}`, rule, ip)
	r, err := sample.Read([]byte(line))
	if err != nil {
		panic(err)
	}
	s.Assign(r, now)
}

// openIncidents has theIncident, with refs and results. It is reported or still batching.
func openIncidents(reported bool) *incident.Store {
	c := incidentConfig("match.SourceIp")
	s := incident.New(c, func() string { return "0f4f6c0e-0d0b-4c55-8f4e-2b1f3c9d7a11" })
	absorb(s, "i", "10.0.0.1", 0)
	c.Include = incident.Results
	s.Configure(c)
	absorb(s, "rule-b", "10.0.0.1", 12)
	if reported {
		s.Tick(30, func([]byte) bool { return false }, func(*incident.Record) {})
	}
	return s
}

func TestIncidents(t *testing.T) {
	const snapshot = `{"incident_id":"383cec03aede7b76","state":"open","trigger":"snapshot","first_seen":0,"last_seen":12,"max_level":"high","result_count":2,` +
		`"rule_counts":{"i":1,"rule-b":1},"group_by":{"match.SourceIp":"10.0.0.1"},"refs":[{"rule":"i","level":"high"}],` +
		`"results":[{"rule_title":"A rule","rule_id":"rule-b","level":"high","tags":["attack.t1110"],"matched_selections":["sel"],"matched_fields":[{"field":"SourceIp","value":"10.0.0.1"}]}],` +
		`"sample_mode":"mixed","bundle_ready":`
	batching, reported := openIncidents(false), openIncidents(true)
	full := &mailbox.Refusal{Actor: "alert", Reason: mailbox.ErrFull}
	const path = "/api/v1/incidents"
	for _, tc := range []struct {
		row
		incidents *incident.Store
		askErr    error
	}{
		{row{"without a group block nothing is listed", "GET", path, "", 200, `{"count":0,"incidents":[]}`}, nil, nil},
		{row{"and there is none", "GET", path + "/x", "", 503, `{"error":"incident grouping disabled","hint":"start with --alert-pipeline and a file that has the section group"}`}, nil, nil},
		{row{"nor its bundle", "GET", path + "/x/bundle", "", 503, `~{"error":"incident grouping disabled","hint":"`}, nil, nil},
		{row{"a format nobody knows comes first", "GET", path + "/x/bundle?format=pdf", "", 400, `{"error":"unknown bundle format 'pdf'","hint":"format is json (default), markdown or md"}`}, nil, nil},
		{row{"also before an actor that does not answer", "GET", path + "/x/bundle?format=pdf", "", 400, `~'pdf'`}, nil, full},
		{row{"one that is batching is listed", "GET", path, "", 200, `{"count":1,"incidents":[` + snapshot + `false}]}`}, batching, nil},
		{row{"and shown", "GET", path + "/" + theIncident, "", 200, snapshot + `false}`}, batching, nil},
		{row{"but has no bundle yet", "GET", path + "/" + theIncident + "/bundle", "", 409, `{"error":"incident is still batching","hint":"It is reported when group_wait is over; try again then.","incident_id":"383cec03aede7b76"}`}, batching, nil},
		{row{"one that was reported", "GET", path + "/" + theIncident, "", 200, snapshot + `true}`}, reported, nil},
		{row{"an id that is not open", "GET", path + "/x%2Fy", "", 404, `{"error":"no such open incident","hint":"It may have resolved: GET /api/v1/incidents lists those that are open.","incident_id":"x/y"}`}, reported, nil},
		{row{"nor has a bundle", "GET", path + "/x/bundle", "", 404, `~{"error":"no such open incident","hint":"`}, reported, nil},
		{row{"an actor that is full", "GET", path, "", 503, `~Too many requests wait for this actor`}, reported, full},
		{row{"also for one incident", "GET", path + "/" + theIncident, "", 503, `~Too many requests wait for this actor`}, reported, full},
		{row{"also for a bundle", "GET", path + "/" + theIncident + "/bundle", "", 503, `~Too many requests wait for this actor`}, reported, full},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &daemon{incidents: tc.incidents, askErr: tc.askErr, catalog: catalog.New(nil, nil, nil, nil)}
			got := tc.check(t, start(t, d).everything(d))
			if got.header.Get("Content-Type") != "application/json" {
				t.Errorf("got content type %q", got.header.Get("Content-Type"))
			}
		})
	}
}

var generated = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

func TestBundles(t *testing.T) {
	rule := &ast.Rule{Meta: ast.Meta{Title: "a*b", ID: "i", Level: ast.LevelHigh, Description: "Why.", Origin: ast.Origin{File: "a.yml", Document: 1}}}
	d := &daemon{incidents: openIncidents(true), catalog: catalog.New([]*ast.Rule{rule}, nil, func(file string) string { return file }, nil)}
	s := start(t, d).everything(d)
	const path = "/api/v1/incidents/" + theIncident + "/bundle"
	for _, tc := range []struct{ name, query, contentType, golden string }{
		{"JSON", "", "application/json", "bundle.golden.json"},
		{"JSON by its name", "?format=json", "application/json", "bundle.golden.json"},
		{"Markdown", "?format=markdown", "text/markdown; charset=utf-8", "bundle.golden.md"},
		{"Markdown in short", "?format=md", "text/markdown; charset=utf-8", "bundle.golden.md"},
	} {
		got := s.do(t, "GET", path+tc.query, "")
		if got.status != 200 || got.header.Get("Content-Type") != tc.contentType {
			t.Errorf("%s: got %d of type %s", tc.name, got.status, got.header.Get("Content-Type"))
		}
		golden(t, tc.golden, []byte(generated.ReplaceAllString(got.body, "TIME")+"\n"))
	}
}

// What is listed does not wait for the last to be sent with the first.
func TestAHundredThousandIncidentsAreStreamed(t *testing.T) {
	n := sigmatest.Rounds(100_000)
	store := incident.New(incidentConfig("match.SourceIp"), nil)
	for i := range n {
		absorb(store, "i", fmt.Sprint(i), int64(i/1000))
	}
	d := &daemon{incidents: store}
	s := start(t, d).everything(d)
	resp, err := s.http.Client().Get(s.url + "/api/v1/incidents")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct {
		Count     int
		Incidents []struct {
			First int64 `json:"first_seen"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	if list.Count != n || len(list.Incidents) != n || list.Incidents[n-1].First != int64(n/1000-1) || resp.ContentLength >= 0 {
		t.Errorf("got %d and %d incidents, and %d bytes told beforehand", list.Count, len(list.Incidents), resp.ContentLength)
	}
}

func BenchmarkIncidentList(b *testing.B) {
	store := incident.New(incidentConfig("match.SourceIp"), nil)
	for i := range 100_000 {
		absorb(store, "i", fmt.Sprint(i), 0)
	}
	res := Resources{Incidents: &daemon{incidents: store}}
	for b.Loop() {
		w := discardAnswer{httptest.NewRecorder()}
		res.getIncidents(w, httptest.NewRequest("GET", "/api/v1/incidents", strings.NewReader("")))
	}
}

type discardAnswer struct{ *httptest.ResponseRecorder }

func (discardAnswer) Write(p []byte) (int, error) { return len(p), nil }
