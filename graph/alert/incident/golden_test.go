package incident

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/ocsf"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares lines with a file, line by line.
func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	path, got := filepath.Join("testdata", name+".ndjson"), strings.Join(lines, "\n")+"\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%swant\n%s", path, got, want)
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

// scene lets an incident give a record of each trigger, and is asked about it in between.
func scene(t *testing.T, c Config, later func(*Config)) *script {
	t.Helper()
	c.Repeat, c.Resolve = 400, 1000
	s := play(t, c)
	s.at(0, `rule-ssh high SourceIp=10.0.0.1 User="a\"lice" Port=443`)
	s.ask()
	s.at(12, `rule-b critical SourceIp=10.0.0.2 User="a\"lice" Port=443`)
	s.to(31)
	s.ask()
	if later != nil {
		later(&c)
		s.store.Configure(c)
	}
	s.at(100, `rule-ssh high SourceIp=10.0.0.1 User="a\"lice" Port=443`)
	s.to(1200)
	return s
}

// ask adds what answers to requests show to the lines.
func (s *script) ask() {
	for e := range s.store.Export().Each {
		s.lines = append(s.lines, string(e.AppendSnapshot(nil)))
	}
}

func scenes(t *testing.T) map[string]*script {
	t.Helper()
	group, graph := grouped(t, "match.User", "match.Port", "match.Host", "event.k"), graphed(t, "match.User", "match.SourceIp")
	groupResults, graphResults, none := group, graph, group
	groupResults.Include, graphResults.Include = Results, Results
	none.MaxResults = 0
	return map[string]*script{
		"group_by_refs":        scene(t, group, nil),
		"group_by_results":     scene(t, groupResults, nil),
		"group_by_mixed":       scene(t, group, func(c *Config) { c.Include = Results }),
		"group_by_none":        scene(t, none, nil),
		"entity_graph_refs":    scene(t, graph, nil),
		"entity_graph_results": scene(t, graphResults, nil),
		"entity_graph_mixed":   scene(t, graphResults, func(c *Config) { c.Include = Refs }),
	}
}

func TestNativeLines(t *testing.T) {
	for name, s := range scenes(t) {
		t.Run(name, func(t *testing.T) { golden(t, name, s.lines) })
	}
}

// The lines of the documentation.
func TestRecordsOfAGroup(t *testing.T) {
	s := play(t, grouped(t, "match.SourceIp"))
	s.at(0, "rule-ssh high SourceIp=10.0.0.1")
	s.at(12, "rule-b critical SourceIp=10.0.0.1")
	s.at(100, "rule-ssh high SourceIp=10.0.0.1")
	s.at(200, "rule-ssh high SourceIp=10.0.0.1")
	s.to(331)
	for i, want := range []string{
		`{"incident_id":"383cec03aede7b76","state":"open","trigger":"group_wait","first_seen":0,"last_seen":12,"max_level":"critical",` +
			`"result_count":2,"rule_counts":{"rule-b":1,"rule-ssh":1},"group_by":{"match.SourceIp":"10.0.0.1"},` +
			`"refs":[{"rule":"rule-ssh","level":"high"},{"rule":"rule-b","level":"critical"}]}`,
		`{"incident_id":"383cec03aede7b76","state":"open","trigger":"group_interval","first_seen":0,"last_seen":200,"max_level":"critical",` +
			`"result_count":4,"rule_counts":{"rule-b":1,"rule-ssh":3},"group_by":{"match.SourceIp":"10.0.0.1"},` +
			`"refs":[{"rule":"rule-ssh","level":"high"},{"rule":"rule-b","level":"critical"},{"rule":"rule-ssh","level":"high"},{"rule":"rule-ssh","level":"high"}]}`,
	} {
		same(t, "line", s.lines[i], want)
	}
}

func TestRecordsAreFindings(t *testing.T) {
	form := ocsf.New("1.2.3")
	for name, c := range map[string]Config{"ocsf_group_by": grouped(t, "match.User", "match.Port", "match.Host"), "ocsf_entity_graph": graphed(t, "match.User", "match.SourceIp")} {
		t.Run(name, func(t *testing.T) {
			c.NATSSubject = "soc.incidents"
			s := play(t, c)
			var lines []string
			finding := func(r *Record) {
				same(t, "kind", r.Kind(), graph.Kind("incident"))
				same(t, "subject", r.NATSSubject(), "soc.incidents")
				payload := graph.Payload{Record: r}
				line, err := form.Append(nil, payload, &graph.Message{Envelope: &graph.Envelope{ID: graph.DeliveryID{1}, Time: time.Unix(1_772_439_300, 0)}})
				if err != nil || !form.Accepts(payload) {
					t.Fatal(err)
				}
				lines = append(lines, string(line))
			}
			s.at(0, "rule-ssh high SourceIp=10.0.0.1 User=alice Port=443")
			s.store.Tick(30, loud, finding)
			c.Include = Results
			s.store.Configure(c)
			s.store.Assign(hit(t, "rule-b - SourceIp=10.0.0.2 User=alice Port=443"), 40)
			s.store.Tick(330, loud, finding)
			s.store.Tick(5000, loud, finding)
			same(t, "findings", len(lines), 3)
			golden(t, name, lines)
		})
	}
}
