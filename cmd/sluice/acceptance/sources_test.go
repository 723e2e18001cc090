package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	listsPipeline = "vars: {bad: '${source.blocked}'}\ntransformations: [{type: value_placeholders}]\n"
	blockedSource = "sources: [{id: blocked, type: file, format: lines, path: blocked.txt}]\n"
)

// fed writes a rule, a pipeline and a source that lists the values of the rule, in a
// directory, and returns the arguments of a daemon there.
func fed(t *testing.T, dir string) []string {
	t.Helper()
	write(t, dir, "rules/bad.yml", "title: Bad\nid: id-Bad\nlevel: high\ndetection:\n  sel:\n    CommandLine|contains: '%bad%'\n  condition: sel\n")
	write(t, dir, "lists.yml", listsPipeline)
	write(t, dir, "sources.yml", blockedSource)
	write(t, dir, "blocked.txt", "mal\n")
	return []string{"-r", "rules", "-p", "lists.yml", "--source", "sources.yml", "--input", "http"}
}

// awaitRebuilds waits until rules were made of changed values so many times.
func (d *daemon) awaitRebuilds(n int) {
	d.t.Helper()
	d.await("rebuilt rules", func() bool { return strings.Count(d.stderr.String(), `"rules rebuilt"`) == n })
}

func commandLine(text string) string { return `{"CommandLine":"` + text + `"}` }

// detected are the command lines of the results that a daemon wrote.
func (d *daemon) detected() string {
	d.t.Helper()
	var all []string
	for _, line := range d.stdout.lines() {
		var r struct {
			Fields []struct{ Value string } `json:"matched_fields"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || len(r.Fields) != 1 {
			d.t.Fatalf("line %q: %v", line, err)
		}
		all = append(all, r.Fields[0].Value)
	}
	return strings.Join(all, " ")
}

// A changed value is in force without a reload, whether the rules were parsed at the start
// or come from the cache.
func TestAChangedValueReachesTheRulesWithoutAReload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := append(fed(t, dir), "--state-db", "state")
	for round, fromCache := range []bool{false, true} {
		replace(t, dir, "blocked.txt", "mal\n")
		d := startIn(t, dir, args...)
		if d.startedFromCache() != fromCache {
			t.Errorf("start %d: from the cache %v, want %v", round+1, !fromCache, fromCache)
		}
		d.push(commandLine("mal.exe"), commandLine("evil.exe"))
		reloads := d.metric("svc_reloads_total")
		replace(t, dir, "blocked.txt", "evil\n")
		if round == 0 {
			if a := d.do("POST", "/api/v1/sources/resolve", ""); a.status != 200 || strings.TrimSpace(a.body) != `{"status":"resolve_triggered"}` {
				t.Errorf("resolve: %d %s", a.status, a.body)
			}
		} else if out, _ := d.client("sources", "resolve", "blocked"); out != `{"status":"resolve_triggered","source_id":"blocked"}`+"\n" {
			t.Errorf("sources resolve: %s", out)
		}
		d.awaitRebuilds(1)
		d.push(commandLine("mal.exe"), commandLine("evil.exe"))
		if n := d.metric("svc_reloads_total"); n != reloads || d.reloads().Last != nil {
			t.Errorf("%v reloads, want %v as before", n, reloads)
		}
		if status := d.get("/api/v1/status").body; !strings.Contains(status, `"dynamic_sources":{"total":1,"resolves_total":2,"errors_total":0,"cache_hits":0}`) {
			t.Errorf("status %s", status)
		}
		d.stop()
		if got := d.detected(); got != "mal.exe evil.exe" {
			t.Errorf("start %d: detected %q, want what the list of the time had", round+1, got)
		}
	}
}

// What a source gave last is there after a restart, with a state database.
func TestAStartWithoutAValueNeedsThatOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := fed(t, dir)
	withState := append(args[:len(args):len(args)], "--state-db", "state")
	startIn(t, dir, withState...).stop()
	if err := os.Remove(filepath.Join(dir, "blocked.txt")); err != nil {
		t.Fatal(err)
	}

	cmd := command(t, append([]string{"engine", "daemon", "--api-addr", "127.0.0.1:0"}, args...)...)
	cmd.Dir = dir
	if got := finish(t, cmd, ""); got.code != 3 || !strings.Contains(got.stderr, "source 'blocked': fetch failed: failed to read blocked.txt: ") {
		t.Errorf("without a database: code %d, want 3 and the source\n%s", got.code, got.stderr)
	}

	d := startIn(t, dir, withState...)
	d.push(commandLine("mal.exe"))
	for _, name := range []string{`svc_source_resolve_errors_total{error_kind="Fetch",source_id="blocked"}`, "svc_source_cache_hits_total"} {
		if got := d.metric(name); got < 1 { // it is tried again after 5 s
			t.Errorf("%s is %v, want one at least", name, got)
		}
	}
	if status := d.get("/api/v1/status").body; !strings.Contains(status, `,"stored":["blocked"]}`) {
		t.Errorf("status %s", status)
	}
	if out, _ := d.client("sources", "invalidate", "blocked"); out != `{"status":"invalidated","source_id":"blocked"}`+"\n" {
		t.Errorf("sources invalidate: %s", out)
	}
	d.push(commandLine("mal.exe")) // rules keep what they were made with
	d.stop()
	if got := d.detected(); got != "mal.exe mal.exe" {
		t.Errorf("with a database: detected %q, want both", got)
	}

	cmd = command(t, append([]string{"engine", "daemon", "--api-addr", "127.0.0.1:0"}, withState...)...)
	cmd.Dir = dir
	if got := finish(t, cmd, ""); got.code != 3 {
		t.Errorf("with a database whose value was invalidated: code %d, want 3\n%s", got.code, got.stderr)
	}
}

func TestSourcesAreListedAndRefusedAsTheyShould(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := fed(t, dir)
	write(t, dir, "more/slow.yml", "sources:\n  - {id: slow, type: command, format: json, command: [sh, -c, 'while test -e hold; do sleep 0.05; done; echo 1'], refresh: 90}\n")
	d := startIn(t, dir, append(args, "--source", "more")...)
	const list = `{"sources":[{"source_id":"blocked","pipeline":"external:sources.yml","type":"File","refresh":"Once","required":true},` +
		`{"source_id":"slow","pipeline":"external:more/slow.yml","type":"Command","refresh":"Interval(90s)","required":true}]}`
	if a := d.get("/api/v1/sources"); strings.TrimSpace(a.body) != list {
		t.Errorf("got %s, want %s", a.body, list)
	}
	listed, _ := d.client("sources", "list", "--output-format", "table")
	if !strings.Contains(listed, "\nslow     Command  Interval(90s)  true      more/slow.yml\n") {
		t.Errorf("got %s", listed)
	}
	if words := sluice(t, "", "completion", "words", "--", "sources", "resolve", "--addr", d.addr, "sl"); words.stdout != "slow\tCommand Interval(90s)\n" {
		t.Errorf("got %q", words.stdout)
	}
	write(t, dir, "hold", "")
	for _, tc := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/resolve/slow", "", 200, `{"status":"resolve_triggered","source_id":"slow"}`},
		{"POST", "/resolve/slow", "", 429, `{"status":"resolve_already_pending"}`},
		{"POST", "/resolve", `{"source_id":"slow"}`, 429, `{"status":"resolve_already_pending"}`},
		{"POST", "/resolve", "", 200, `{"status":"resolve_triggered"}`},
		{"POST", "/resolve", "", 429, `{"status":"resolve_already_pending"}`},
		{"POST", "/resolve/nope", "", 404, `{"error":"unknown dynamic source 'nope'"}`},
		{"POST", "/resolve", `{"source_id":"nope"}`, 404, `{"error":"unknown dynamic source 'nope'"}`},
		{"POST", "/resolve", `[]`, 400, `{"error":"body is not a JSON object"}`},
		{"DELETE", "/cache/nope", "", 200, `{"status":"invalidated","source_id":"nope"}`},
	} {
		if a := d.do(tc.method, "/api/v1/sources"+tc.path, tc.body); a.status != tc.status || strings.TrimSpace(a.body) != tc.want {
			t.Errorf("%s %s %s: %d %s, want %d %s", tc.method, tc.path, tc.body, a.status, a.body, tc.status, tc.want)
		}
	}
	refused := sluice(t, "", "sources", "resolve", "slow", "--addr", d.addr)
	if refused.code != 3 || !strings.Contains(refused.stderr, "429 Too Many Requests: resolve_already_pending") {
		t.Errorf("code %d, %s", refused.code, refused.stderr)
	}
	if err := os.Remove(filepath.Join(dir, "hold")); err != nil {
		t.Fatal(err)
	}
	d.await("the end of the fetches", func() bool { return strings.Contains(d.get("/api/v1/actors/sources").body, `"in_flight":0`) })
	d.stop()

	without := startIn(t, dir, "-r", write(t, dir, "none/a.yml", rule("A", "evil")), "--input", "http")
	for _, body := range []string{"", `{"source_id":"nope"}`} {
		if a := without.do("POST", "/api/v1/sources/resolve", body); a.status != 404 || strings.TrimSpace(a.body) != `{"error":"no dynamic sources configured"}` {
			t.Errorf("without sources: %d %s", a.status, a.body)
		}
	}
	if a := without.do("DELETE", "/api/v1/sources/cache/a", ""); a.status != 200 {
		t.Errorf("without sources: %d %s", a.status, a.body)
	}
	if a := without.get("/api/v1/sources"); strings.TrimSpace(a.body) != `{"sources":[]}` {
		t.Errorf("without sources: %s", a.body)
	}
	without.stop()
}
