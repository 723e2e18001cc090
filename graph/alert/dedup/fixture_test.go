package dedup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/graph/native"
	"github.com/sluicehq/sluice/graph/selector"
)

// parse reads a result from its native line.
func parse(tb testing.TB, line string) *graph.Result {
	tb.Helper()
	r, err := native.Parse([]byte(line))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// detection is a result of a rule with matched fields, given as name and JSON value.
func detection(tb testing.TB, rule string, fields ...string) *graph.Result {
	tb.Helper()
	var list []string
	for i := 0; i < len(fields); i += 2 {
		list = append(list, fmt.Sprintf(`{"field":%q,"value":%s}`, fields[i], fields[i+1]))
	}
	return parse(tb, fmt.Sprintf(`{"rule_title":"Repeated login failure","rule_id":%q,"level":"high","tags":["attack.t1110"],"matched_selections":["sel"],"matched_fields":[%s]}`,
		rule, strings.Join(list, ",")))
}

// fromIP is a result of rule-ssh with a source address.
func fromIP(tb testing.TB, ip string) *graph.Result {
	tb.Helper()
	return detection(tb, "rule-ssh", "SourceIp", `"`+ip+`"`)
}

func selectors(tb testing.TB, texts ...string) []selector.Selector {
	tb.Helper()
	var all []selector.Selector
	for _, text := range texts {
		s, err := selector.Parse(text)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// pass gives the store a result as the pipeline does, and says what became of it.
func (s *Store) pass(r *graph.Result, now int64, in incident.Ref) string {
	if a := s.Find(r); a != nil {
		s.Fold(a, now)
		return "folded"
	}
	if s.Open(r, now, in) {
		return "passes"
	}
	return "passes, the store is full"
}

// tick returns the native lines that a tick emits.
func (s *Store) tick(now int64, muted func([]byte) bool) []string {
	var lines []string
	s.Tick(now, muted, func(r *Summary) { lines = append(lines, string(r.AppendNative(nil))) }, func(incident.Ref) {})
	return lines
}

func never([]byte) bool { return false }

// told is a summary in short.
type told struct {
	Enrichments struct {
		Fingerprint string          `json:"dedup_fingerprint"`
		Fields      json.RawMessage `json:"dedup_fields"`
		Count       int             `json:"dedup_fire_count"`
		First       int64           `json:"dedup_first_seen"`
		Last        int64           `json:"dedup_last_seen"`
		State       string          `json:"dedup_state"`
	} `json:"enrichments"`
}

func brief(tb testing.TB, lines []string) []string {
	tb.Helper()
	var all []string
	for _, line := range lines {
		var t told
		if err := json.Unmarshal([]byte(line), &t); err != nil {
			tb.Fatalf("%v in %s", err, line)
		}
		e := t.Enrichments
		all = append(all, fmt.Sprintf("%s %s count %d, seen %d to %d", e.State, e.Fingerprint, e.Count, e.First, e.Last))
	}
	return all
}

// save is what an export is encoded as. Alerts name no incident.
func (s *Store) save(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := s.Export(func(incident.Ref) string { return "" }).Encode(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func restore(tb testing.TB, c Config, data []byte) *Store {
	tb.Helper()
	s := New(c)
	restoreInto(tb, s, data)
	return s
}

func restoreInto(tb testing.TB, s *Store, data []byte) {
	tb.Helper()
	n, err := s.Restore(json.NewDecoder(bytes.NewReader(data)), func(string) incident.Ref { return incident.Ref{} })
	if err != nil || n != s.Len() {
		tb.Fatalf("%d restored, %d alerts, %v", n, s.Len(), err)
	}
}

// handle is pass for a result that may be silenced.
func (s *Store) handle(r *graph.Result, now int64, silenced bool) string {
	if !silenced {
		return s.pass(r, now, incident.Ref{})
	}
	if a := s.Find(r); a != nil {
		s.Fold(a, now)
	}
	return "silenced"
}
