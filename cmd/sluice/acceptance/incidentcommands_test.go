package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// knownIncident is that of the source 10.0.0.1.
const knownIncident = "383cec03aede7b76"

// withAnIncident is a daemon with an incident that was reported, with two silences of its
// file that mute nothing, and with a dynamic source that no pipeline refers to.
func withAnIncident(t *testing.T) *daemon {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "a.yml", "title: Known *source*\nid: rule-source\nlevel: high\ntags: [attack.t1110]\ndescription: Somebody knocks.\n"+
		"detection:\n  sel:\n    SourceIp: 10.0.0.1\n  condition: sel\n")
	alerts := write(t, t.TempDir(), "alerts.yml", "group: {by: [match.SourceIp], group_wait: 0}\nsilences:\n"+
		"  - {id: 0f4f6c0e-0d0b-4c55-8f4e-2b1f3c9d7a11, matchers: [{selector: rule, value: none}], ends_at: '2098-01-01T00:00:00Z'}\n"+
		"  - {id: 7c0a4f7e-52a3-4f0e-9a44-6d1f0c2b9e35, matchers: [{selector: rule, value: none}], ends_at: '2098-01-01T00:00:00Z'}\n")
	list := write(t, t.TempDir(), "blocked.txt", "203.0.113.9\n")
	source := write(t, t.TempDir(), "sources.yml", "sources: [{id: blocked, type: file, format: lines, path: '"+list+"'}]\n")
	d := start(t, "-r", dir, "--input", "http", "--alert-pipeline", alerts, "--source", source)
	d.push(`{"SourceIp":"10.0.0.1"}`)
	d.await("a record of the incident", func() bool {
		return strings.Contains(d.get("/api/v1/incidents/"+knownIncident).body, `"bundle_ready":true`)
	})
	return d
}

// client runs a command that asks a daemon.
func (d *daemon) client(args ...string) (stdout, stderr string) {
	d.t.Helper()
	got := sluice(d.t, "", append(args, "--addr", d.addr)...)
	if got.code != 0 {
		d.t.Fatalf("%q: exit code %d, %s", args, got.code, got.stderr)
	}
	return got.stdout, got.stderr
}

func TestIncidentsAreHandedOverByCommands(t *testing.T) {
	t.Parallel()
	d := withAnIncident(t)
	listed, _ := d.client("incidents", "list")
	one := d.get("/api/v1/incidents/" + knownIncident).body
	if strings.TrimSpace(listed) != strings.TrimSpace(one) || !strings.Contains(one, `"rule_counts":{"rule-source":1},"group_by":{"match.SourceIp":"10.0.0.1"}`) {
		t.Errorf("listed %s, want %s", listed, one)
	}
	if table, _ := d.client("incidents", "list", "--output-format", "table"); !strings.Contains(table, "match.SourceIp=10.0.0.1  rule-source (1)") {
		t.Errorf("got %s", table)
	}
	if shown, _ := d.client("incidents", "show", knownIncident); shown != listed {
		t.Errorf("got %s, want %s", shown, listed)
	}
	for _, name := range []string{"incidents", "engine incidents"} {
		args := append(strings.Fields(name), "export", knownIncident)
		bundle, _ := d.client(args...)
		if !strings.Contains(bundle, "\n  \"schema_version\": 1,\n") && !strings.HasPrefix(bundle, "{\n  \"schema_version\": 1,\n") || !strings.Contains(bundle, `"content": "Somebody knocks."`) {
			t.Errorf("%s: got %s", name, bundle)
		}
		file := filepath.Join(t.TempDir(), "incident.md")
		d.client(append(args, "--bundle-format", "markdown", "-o", file)...)
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), "\n**Known \\*source\\***\n\n- Level: high\n- Tags: attack.t1110\n\n*Goal*\n\nSomebody knocks.\n") {
			t.Errorf("%s: got %s, %v", name, text, err)
		}
	}
	d.await("the completion", func() bool { // which gives a daemon up that takes long
		words := sluice(t, "", "completion", "words", "--", "incidents", "show", "--addr", d.addr, "38")
		return strings.HasPrefix(words.stdout, knownIncident+"\t")
	})
}

// What a silence of an incident mutes is what the incident is made of.
func TestAnIncidentIsSilencedExtendedAndExpiredByCommands(t *testing.T) {
	t.Parallel()
	d := withAnIncident(t)
	made, said := d.client("silence", "add", "--incident", knownIncident, "--for", "1h", "--comment", "known scanner")
	if !strings.Contains(said, `match.SourceIp="10.0.0.1"`) {
		t.Errorf("got %s", said)
	}
	_, id, _ := strings.Cut(strings.TrimSpace(made), `"id":"`)
	id = strings.TrimSuffix(id, `"}`)
	before := len(d.stdout.lines())
	d.push(`{"SourceIp":"10.0.0.1"}`)
	moved, said := d.client("silence", "extend", id, "--for", "1h")
	if !strings.Contains(said, "takes the place of "+id) || strings.Contains(moved, id) {
		t.Errorf("got %s with %s", moved, said)
	}
	list, _ := d.client("silence", "list")
	if n := strings.Count(list, `"origin":"api"`); n != 1 || !strings.Contains(list, `"comment":"known scanner"`) {
		t.Errorf("got %s", list)
	}
	_, id, _ = strings.Cut(strings.TrimSpace(moved), `"id":"`)
	id = strings.TrimSuffix(id, `"}`)
	d.push(`{"SourceIp":"10.0.0.1"}`)
	d.client("silence", "expire", id)
	if list, _ := d.client("silence", "list"); strings.Contains(list, id) {
		t.Errorf("got %s", list)
	}
	d.push(`{"SourceIp":"10.0.0.1"}`)
	d.stop()
	results := 0
	for _, line := range d.stdout.lines()[before:] {
		if strings.Contains(line, `"rule_title"`) {
			results++
		}
	}
	if results != 1 {
		t.Errorf("%d results behind the silence, want the one when it was over: %s", results, d.stdout)
	}
}
