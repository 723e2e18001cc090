package acceptance

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pushValues has a rule find events with the values from one number up to another.
func (d *daemon) pushValues(from, to int) {
	d.t.Helper()
	const most = 10_000 // in one request
	for ; from < to; from += most {
		var lines []string
		for i := from; i < min(from+most, to); i++ {
			lines = append(lines, event(fmt.Sprint("evil ", i)))
		}
		d.push(lines...)
	}
}

// allIncidents is the list of incidents as it was answered. It is not held against the
// description of the API, which takes minutes for a hundred thousand.
func (d *daemon) allIncidents() string {
	d.t.Helper()
	resp, err := http.Get("http://" + d.addr + "/api/v1/incidents")
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		d.t.Fatalf("incidents: %d, %v", resp.StatusCode, err)
	}
	return string(body)
}

// logUsed is how far the newest log of a state directory is written: its name, and how many
// bytes stand in front of the zeros that it is filled up with.
func logUsed(t *testing.T, state string) (name string, used int) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(state, "*.mem")) // sorted, as their numbers have leading zeros
	if err != nil || len(logs) == 0 {
		t.Fatalf("logs %v, %v, want one at least", logs, err)
	}
	name = logs[len(logs)-1]
	raw, err := os.ReadFile(name)
	if err != nil { // it has become a table meanwhile
		return name, 0
	}
	return name, len(bytes.TrimRight(raw, "\x00"))
}

// A kill in the middle of a save loses what came behind the save before, and no more: the
// incidents are those, none that was reported is reported again, and silences are as they
// were answered.
func TestAKillDuringASaveLeavesTheIncidentsOfTheOneBefore(t *testing.T) {
	incidents := 100_000
	if watched {
		incidents = 10_000
	}
	dir := t.TempDir()
	rules, state := write(t, dir, "r.yml", rule("A", "evil")), filepath.Join(dir, "state")
	file := write(t, dir, "alerts.yml", `
dedup: {fingerprint: [match.C], repeat_interval: 1h, resolve_timeout: 24h, max_active_alerts: 200000}
group: {by: [match.C], group_wait: 0, group_interval: 1h, repeat_interval: 1h, resolve_timeout: 24h, caps: {max_open_incidents: 200000}}
`)
	d := startWithState(t, rules, state, "--alert-pipeline", file, "--state-save-interval", "1")
	reported := func(n int) func() bool {
		return func() bool { return d.metric(`svc_incidents_emitted_total{trigger="group_wait"}`) == float64(n) }
	}
	saves := func() int { return strings.Count(d.stderr.String(), `"state saved"`) }
	d.pushValues(0, incidents)
	last, before := "", ""
	for n := incidents; ; n++ {
		d.await("a record of each incident", reported(n))
		d.awaitSave()
		before = d.allIncidents()
		gone := d.silence("id-gone")
		d.silence(fmt.Sprint("id-", n))
		d.unsilence(gone)
		last += fmt.Sprintf(", api id-%d active", n)
		saved := saves()
		d.push(event(fmt.Sprint("evil ", n))) // so that there is something to save
		name, used := logUsed(t, state)
		d.await("a save", func() bool {
			now, n := logUsed(t, state)
			return now != name || n > used+64<<10 || saves() > saved // the record of a request takes less
		})
		if saves() == saved {
			d.kill()
			break
		}
	}

	d = startWithState(t, rules, state, "--alert-pipeline", file, "--state-save-interval", "3600")
	d.wantSilences(strings.TrimPrefix(last, ", "))
	_, entries, _ := strings.Cut(strings.TrimSuffix(before, "]}\n"), "[")
	switch after := d.allIncidents(); {
	case after == before:
		t.Log("the save was not complete")
	case strings.Contains(after, "["+entries+`,{"incident_id"`) && strings.Count(after, `"incident_id"`) == strings.Count(before, `"incident_id"`)+1:
		t.Log("the save was complete when the kill came")
	default:
		t.Errorf("the incidents are neither those of the save nor those of the one before: %.300s, before the kill: %.300s", after, before)
	}
	d.pushValues(0, incidents)
	if n := d.metric(`svc_dedup_results_total{action="folded"}`); n != float64(incidents) {
		t.Errorf("%g results are folded, want all %d, as their alerts go on", n, incidents)
	}
	d.stop()
	if got := d.stdout.String(); got != "" {
		t.Errorf("reported again: %.500s", got)
	}
}
