package acceptance

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// realEvents are events of the corpus in the shapes of the samples, by the sample they
// take the place of.
func realEvents(t *testing.T) (events map[string][]byte, cases map[string]bool) {
	t.Helper()
	telemetry := sigmatest.Lane(t, sigmatest.Telemetry)
	with := func(text string) []byte {
		var out [][]byte
		for _, line := range telemetry {
			if bytes.Contains(line, []byte(text)) {
				out = append(out, line)
			}
		}
		return bytes.Join(out, []byte("\n"))
	}
	events = map[string][]byte{
		"nxlog.ndjson":         with(""),
		"sysmon.ndjson":        with(`"Channel":"Microsoft-Windows-Sysmon/Operational"`),
		"security_4688.ndjson": with(`"EventID":4688`),
	}
	cases = make(map[string]bool) // ids of rules that fire on event records
	for _, r := range sigmatest.Regressions(t) {
		if strings.HasSuffix(r.File, ".raw") {
			events["cisco.log"] = append(events["cisco.log"], strings.TrimRight(r.Raw, "\n")+"\n"...)
			continue
		}
		cases[r.RuleID] = true
		for dec := json.NewDecoder(strings.NewReader(r.Raw)); dec.More(); {
			var record json.RawMessage
			if err := dec.Decode(&record); err != nil {
				t.Fatalf("%s: %v", r.File, err)
			}
			var line bytes.Buffer
			if err := json.Compact(&line, record); err != nil {
				t.Fatal(err)
			}
			events["evtx.ndjson"] = append(events["evtx.ndjson"], line.String()+"\n"...)
		}
	}
	return events, cases
}

// The commands of the page find something in real events of the shape, by real public
// rules: nothing but the two paths is changed.
func TestThePageAboutPublicRulesHoldsForRealEvents(t *testing.T) {
	if testing.Short() || watched {
		t.Skip("loads the public rules for each shape")
	}
	const page, sampleRules, samples = "docs/public-rules.md", "-r examples/events/rules", "examples/events/"
	rules := sigmatest.RuleDir(t, "rules")
	events, cases := realEvents(t)
	dir := t.TempDir()
	seen := make(map[string]bool)
	for _, f := range fences(t, page) {
		_, name, ok := strings.Cut(f.text, "-e @"+samples)
		name = strings.TrimSpace(name)
		lines, real := events[name]
		if f.info != "sh" || !ok || !real {
			continue
		}
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			r := newReader(t)
			f.text = strings.Replace(f.text, sampleRules, "-r "+rules, 1)
			f.text = strings.Replace(f.text, "@"+samples+name, "@"+write(t, dir, filepath.Base(name), string(lines)), 1)
			f.text = strings.Replace(f.text, "--output-format table", "--output-format ndjson", 1)
			found := make(map[string]bool)
			for line := range strings.Lines(r.follow(f)) {
				var result struct {
					ID string `json:"rule_id"`
				}
				if err := json.Unmarshal([]byte(line), &result); err != nil {
					t.Fatalf("result %s: %v", line, err)
				}
				found[result.ID] = true
			}
			if len(found) == 0 {
				t.Error("no rule fires")
			}
			for id := range cases {
				if name == "evtx.ndjson" && !found[id] {
					t.Errorf("rule %s does not fire on its event", id)
				}
			}
		})
	}
	for name := range events {
		if !seen[name] {
			t.Errorf("%s has no command for %s", page, name)
		}
	}
}
