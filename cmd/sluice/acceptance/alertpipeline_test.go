package acceptance

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// silences are the silences that a daemon lists, as "origin value state".
func (d *daemon) silences() string {
	d.t.Helper()
	var list struct {
		Silences []struct {
			Origin, State string
			Matchers      []struct{ Value string }
		}
	}
	a := d.get("/api/v1/silences")
	if err := json.Unmarshal([]byte(a.body), &list); err != nil || a.status != 200 {
		d.t.Fatalf("silences: %d %s", a.status, a.body)
	}
	var all []string
	for _, s := range list.Silences {
		all = append(all, s.Origin+" "+s.Matchers[0].Value+" "+s.State)
	}
	return strings.Join(all, ", ")
}

func (d *daemon) wantSilences(want string) {
	d.t.Helper()
	if got := d.silences(); got != want {
		d.t.Errorf("silences %q, want %q", got, want)
	}
}

// silence makes a silence of a rule and returns its id.
func (d *daemon) silence(rule string) string {
	d.t.Helper()
	a := d.do("POST", "/api/v1/silences", fmt.Sprintf(`{"matchers":[{"selector":"rule","value":%q}]}`, rule))
	if a.status != 201 {
		d.t.Fatalf("silence: %d %s, want 201", a.status, a.body)
	}
	return a.json(d.t)["id"].(string)
}

func (d *daemon) unsilence(id string) {
	d.t.Helper()
	if a := d.do("DELETE", "/api/v1/silences/"+id, ""); a.status != 200 {
		d.t.Fatalf("delete: %d %s, want 200", a.status, a.body)
	}
}

// written are the titles of the results that a daemon wrote, and the records of its alert
// pipeline.
func (d *daemon) written() string {
	d.t.Helper()
	var all []string
	for _, line := range d.stdout.lines() {
		var m struct {
			Title       string `json:"rule_title"`
			Trigger     string
			Enrichments struct {
				State string `json:"dedup_state"`
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			d.t.Fatalf("line %q: %v", line, err)
		}
		all = append(all, m.Title+m.Trigger+strings.TrimSuffix(":"+m.Enrichments.State, ":"))
	}
	return strings.Join(all, " ")
}

func (d *daemon) wantWritten(want string) {
	d.t.Helper()
	if got := d.written(); got != want {
		d.t.Errorf("written %q, want %q", got, want)
	}
}

// A silence that was answered outlasts a kill, and so does its end.
func TestSilencesAreAsTheyWereAnsweredAfterAKill(t *testing.T) {
	for _, first := range []string{"", "{}"} {
		t.Run("begun with the pipeline "+first, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			rules := write(t, dir, "r.yml", rule("A", "evil")+"---\n"+rule("B", "bad"))
			file := write(t, dir, "alerts.yml", "silences: [{matchers: [{selector: rule, value: id-B}]}]")
			var args []string
			if first != "" {
				args = []string{"--alert-pipeline", write(t, dir, "first.yml", first)}
			}
			d := startWithState(t, rules, filepath.Join(dir, "state"), args...)
			gone := d.silence("id-C")
			d.silence("id-A")
			d.kill()
			d = startWithState(t, rules, filepath.Join(dir, "state"), args...)
			d.wantSilences("api id-C active, api id-A active")
			d.unsilence(gone)
			d.kill()
			d = startWithState(t, rules, filepath.Join(dir, "state"), "--alert-pipeline", file)
			d.wantSilences("static id-B active, api id-A active")
			d.push(event("evil"), event("bad"))
			if d.stop(); d.stdout.String() != "" {
				t.Errorf("written %s, want nothing: both rules are silenced", d.stdout)
			}
		})
	}
}

func TestSilencesComeBackWhateverIsDecidedAboutTheStateUnlessItIsCleared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := write(t, dir, "r.yml", rule("A", "evil"))
	d := startWithState(t, rules, filepath.Join(dir, "state"))
	d.silence("id-A")
	d.silence("id-B")
	d.stop()
	for _, tc := range []struct{ flag, want string }{
		{"--keep-state", "api id-A active, api id-B active"},
		{"--clear-state", ""},
		{"--keep-state", ""},
	} {
		d = startWithState(t, rules, filepath.Join(dir, "state"), tc.flag)
		d.wantSilences(tc.want)
		d.stop()
	}
}

func TestASilenceThatMutesNothingIsWarnedOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := write(t, dir, "r.yml", rule("A", "evil"))
	const idle = "no alert pipeline is configured, so nothing is muted until a start with --alert-pipeline"
	const over = "ends_at is over, so the silence mutes nothing"
	for _, tc := range []struct {
		name    string
		args    []string
		ends    string
		warning any
	}{
		{"without an alert pipeline", nil, "2126-01-01T00:00:00Z", idle},
		{"with one", []string{"--alert-pipeline", write(t, dir, "alerts.yml", "{}")}, "2126-01-01T00:00:00Z", nil},
		{"with one, for a time that is over", []string{"--alert-pipeline", write(t, dir, "alerts.yml", "{}")}, "2020-01-01T00:00:00Z", over},
	} {
		d := start(t, append([]string{"-r", rules, "--input", "http"}, tc.args...)...)
		a := d.do("POST", "/api/v1/silences", fmt.Sprintf(`{"matchers":[{"selector":"rule","value":"id-A"}],"ends_at":%q}`, tc.ends))
		if got := a.json(t)["warning"]; a.status != 201 || got != tc.warning {
			t.Errorf("%s: %d %s, want the warning %v", tc.name, a.status, a.body, tc.warning)
		}
		if tc.warning == idle {
			_, said := d.client("silence", "add", "rule=id-A", "--for", "1h")
			if !strings.Contains(said, "warning: "+idle) || strings.Contains(said, "mutes") {
				t.Errorf("%s: the command says %q", tc.name, said)
			}
		}
		d.stop()
	}
}

func TestASilenceOfTheFileIsBackAfterAReload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := write(t, dir, "r.yml", rule("A", "evil"))
	file := write(t, dir, "alerts.yml", "silences: [{id: s, matchers: [{selector: rule, value: id-A}]}]")
	d := start(t, "-r", rules, "--input", "http", "--alert-pipeline", file)
	d.wantSilences("static id-A active")
	d.unsilence("s")
	d.wantSilences("")
	d.do("POST", "/api/v1/reload", "")
	d.await("the silence of the file", func() bool { return d.silences() == "static id-A active" })
	d.stop()
}

// What the end of a daemon does with an incident that nobody was told of.
func TestTheEndReportsIncidentsThatNoDatabaseKeeps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := write(t, dir, "r.yml", rule("A", "evil"))
	file := write(t, dir, "alerts.yml", "dedup: {fingerprint: [match.C]}\ngroup: {by: [match.C], group_wait: 1h, resolve_timeout: 2h}")
	args := []string{"-r", rules, "--input", "http", "--alert-pipeline", file}

	d := start(t, args...)
	d.push(event("evil"), event("evil"))
	d.stop()
	d.wantWritten("A group_wait")

	args = append(args, "--state-db", filepath.Join(dir, "state"))
	d = start(t, args...)
	d.push(event("evil"), event("evil"))
	d.stop()
	d.wantWritten("A")

	d = start(t, args...) // the alert and the incident go on
	d.push(event("evil"))
	if n := d.metric("svc_dedup_store_entries"); n != 1 {
		t.Errorf("%g alerts, want one", n)
	}
	got := d.get("/api/v1/incidents").json(t)
	if all := got["incidents"].([]any); len(all) != 1 || all[0].(map[string]any)["result_count"] != 3.0 {
		t.Errorf("incidents %v, want one of three results", got)
	}
	d.stop()
	d.wantWritten("")
}

// The end of the input is an end like any other.
func TestTheEndOfTheInputRunsALastTick(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := write(t, dir, "r.yml", rule("A", "evil"))
	file := write(t, dir, "alerts.yml", "group: {by: [match.C], group_wait: 1h, resolve_timeout: 2h}")
	d := launch(t, "-r", rules, "--alert-pipeline", file)
	if _, err := fmt.Fprintln(d.stdin, event("evil")); err != nil {
		t.Fatal(err)
	}
	_ = d.stdin.Close()
	if code := d.wait(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	d.wantWritten("A group_wait")
}

func TestAFileOfTheAlertPipelineThatIsFaultyRefusesTheStart(t *testing.T) {
	plainly(t)
	dir := t.TempDir()
	rules := write(t, dir, "r.yml", rule("A", "evil"))
	for _, tc := range []struct{ name, text, want string }{
		{"a key that is not known", "strip_event: true\ngroup: {by: [rule], wait: 1s}\n", "alerts.yml:2: "},
		{"a selector that is not known", "dedup:\n  fingerprint: [bogus.x]\n", "dedup.fingerprint"},
		{"no unit", "dedup: {fingerprint: [rule], resolve_timeout: 30}\n", "dedup.resolve_timeout"},
		{"no mapping", "[]\n", "alerts.yml:1: "},
	} {
		file := write(t, dir, "alerts.yml", tc.text)
		for _, args := range [][]string{
			{"engine", "daemon", "-r", rules, "--api-addr", "127.0.0.1:0", "--alert-pipeline", file},
			{"config", "validate", "-c", write(t, dir, "sluice.yaml", "daemon: {rules: ["+rules+"], alert_pipeline: "+file+", api: {addr: '127.0.0.1:0'}}")},
		} {
			got := sluice(t, "", args...)
			if text := got.stdout + got.stderr; got.code != 3 || !strings.Contains(text, tc.want) || !strings.Contains(text, file) {
				t.Errorf("%s: %s: exit code %d, want 3 with %q: %s", tc.name, args[0], got.code, tc.want, text)
			}
		}
	}
	missing := sluice(t, "", "engine", "daemon", "-r", rules, "--api-addr", "127.0.0.1:0", "--alert-pipeline", filepath.Join(dir, "nowhere.yml"))
	if missing.code != 3 || !strings.Contains(missing.stderr, filepath.Join(dir, "nowhere.yml")+": the file cannot be read") {
		t.Errorf("a file that is not there: exit code %d, %s", missing.code, missing.stderr)
	}
}

// A change of the file is a reload. One that fails leaves everything as it was.
func TestTheFileOfTheAlertPipelineIsReloaded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := write(t, dir, "r.yml", rule("A", "evil"))
	file := write(t, dir, "alerts.yml", "dedup: {fingerprint: [match.C]}")
	d := start(t, "-r", rules, "--input", "http", "--alert-pipeline", file)
	d.push(event("evil"), event("evil"))
	d.wantWritten("A")

	replace(t, dir, "alerts.yml", "dedup: {fingerprint: [bogus]}")
	d.await("the failed reload", func() bool { return d.metric("svc_reloads_failed_total") == 1 })
	if ready := d.get("/readyz"); ready.status != 200 {
		t.Errorf("readyz %d %s, want 200", ready.status, ready.body)
	}
	status := d.get("/api/v1/status").json(t)["last_reload"].(map[string]any)
	if status["ok"] != false || !strings.Contains(status["error"].(string), "alerts.yml") {
		t.Errorf("last reload %v, want a failure that names the file", status)
	}
	d.push(event("evil"))
	d.wantWritten("A")

	replace(t, dir, "alerts.yml", "{}")
	d.await("the end of the alert", func() bool { return d.metric("svc_dedup_store_entries") == 0 })
	d.push(event("evil"))
	d.await("both lines", func() bool { return d.written() == "A A:resolved A" })
	if n := d.metric(`svc_dedup_results_total{action="folded"}`); n != 2 {
		t.Errorf("%g folded, want 2", n)
	}
	d.stop()
}

// Records come in the form of the sink; what is no incident stays native.
func TestRecordsReachTheSinksThatTakeThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := write(t, dir, "r.yml", rule("A", "evil"))
	file := write(t, dir, "alerts.yml", "dedup: {fingerprint: [match.C], resolve_timeout: 1s}\ngroup: {by: [match.C], group_wait: 0, resolve_timeout: 1h}")
	ocsf, native := filepath.Join(dir, "ocsf"), filepath.Join(dir, "native")
	d := start(t, "-r", rules, "--input", "http", "--alert-pipeline", file, "--output", "file://"+ocsf+"?format=ocsf", "--output", "file://"+native)
	d.push(event("evil"))
	d.await("the records", func() bool { return len(output(native).lines()) == 3 && len(output(ocsf).lines()) == 3 })
	d.stop()
	for _, tc := range []struct {
		sink output
		part string
	}{
		{output(native), `"trigger":"group_wait"`},
		{output(native), `"dedup_state":"resolved"`},
		{output(ocsf), `"class_uid":2004`},
		{output(ocsf), `"trigger":"group_wait"`},
		{output(ocsf), `"dedup_state":"resolved"`},
	} {
		if !strings.Contains(tc.sink.String(), tc.part) {
			t.Errorf("%s has no %s:\n%s", tc.sink, tc.part, tc.sink.String())
		}
	}
}
