package acceptance

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAFiniteInputIsDrainedAndEndsTheDaemon(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	cmd := command(t, "engine", "daemon", "-r", dir, "--api-addr", "127.0.0.1:0", "--drain-timeout", "60")
	got := finish(t, cmd, event("evil one")+"\n\nnot json at all\r\n"+event("fine")+"\n"+event("EVIL two"))
	want := resultLine("A", "evil one") + "\n" + resultLine("A", "EVIL two") + "\n"
	if got.code != 0 || got.stdout != want {
		t.Errorf("code %d, results\n%s\nwant 0 and\n%s\nlog\n%s", got.code, got.stdout, want, got.stderr)
	}
}

func TestAnEmptyInputIsACleanExit(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	got := sluice(t, "", "engine", "daemon", "-r", dir, "--api-addr", "127.0.0.1:0")
	if got.code != 0 || got.stdout != "" {
		t.Errorf("code %d, output %q, want 0 and nothing\n%s", got.code, got.stdout, got.stderr)
	}
}

func TestAStartTellsItsSteps(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--state-db", filepath.Join(dir, "state"))
	d.awaitLog("source started")
	d.stop()
	type line struct {
		Level, Target string
		Fields        struct{ Message string }
		Span          struct{ Name string }
		Spans         []struct{ Name string }
	}
	var steps []string
	for _, text := range d.stderr.lines() {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("line %s: %v", text, err)
		}
		if l.Level != "INFO" {
			continue
		}
		steps = append(steps, l.Target+": "+l.Fields.Message)
		loading := l.Target == "sluice.engine"
		if (l.Span.Name == "load_rules") != loading || (len(l.Spans) == 1) != loading {
			t.Errorf("span %q of %d in %s", l.Span.Name, len(l.Spans), text)
		}
	}
	want := []string{
		"sluice.server: starting", "sluice.state: state opened", "sluice.server: probes listening", "sluice.engine: rules loaded",
		"sluice.state: no state is stored", "sluice.state: restore of state decided", "sluice.server: API server listening",
		"sluice.sources: source started", "sluice.server: shutting down", "sluice.server: stopped",
	}
	if !slices.Equal(steps, want) {
		t.Errorf("steps\n%s\nwant\n%s", strings.Join(steps, "\n"), strings.Join(want, "\n"))
	}
}

func TestStartsThatFailSayWhy(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "good/a.yml", rule("A", "evil"))
	write(t, dir, "mixed/a.yml", rule("A", "evil"))
	write(t, dir, "mixed/b.yml", "id: x\n")
	write(t, dir, "bad/b.yml", "title: B\ndetection: {sel: {A|foo: x, B|cidr: 10.0.0.1}, condition: sel}\n")
	write(t, dir, "list.yaml", "- a\n")
	good := filepath.Join(dir, "good")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tc := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"no rules anywhere", []string{}, 3, []string{"rules"}},
		{"a rules path that is missing", []string{"-r", filepath.Join(dir, "nope")}, 2, []string{"nope"}},
		{"plaintext on every address is refused by default", []string{"-r", good, "--api-addr", "0.0.0.0:0"}, 3, []string{"refusing to bind plaintext", "--allow-plaintext"}},
		{"a host name as address", []string{"-r", good, "--api-addr", "localhost:9090"}, 3, []string{"localhost:9090"}},
		{"a port that is taken", []string{"-r", good, "--api-addr", taken.Addr().String()}, 3, []string{taken.Addr().String(), "in use"}},
		{"an unknown flag", []string{"-r", good, "--bogus"}, 3, []string{"bogus"}},
		{"an unknown input", []string{"-r", good, "--input", "pigeon"}, 3, []string{"pigeon", "stdin"}},
		{"an unknown format", []string{"-r", good, "--input-format", "xml"}, 3, []string{"xml", "json"}},
		{"a buffer that is too large", []string{"-r", good, "--buffer-size", "1000001"}, 3, []string{"buffer", "1000000"}},
		{"an unknown actor", []string{"-r", good, "--mailbox-size", "bogus=5"}, 3, []string{"--mailbox-size: unknown actor 'bogus'", "evaluate", "sink:stdout"}},
		{"an unknown sink", []string{"-r", good, "--output", "ftp://x"}, 3, []string{"Unsupported output sink"}},
		{"an unknown sink format", []string{"-r", good, "--output", "file:///d/a?format=bogus"}, 3, []string{"Unknown sink format"}},
		{"a file sink in a directory that is missing", []string{"-r", good, "--output", "file://" + dir + "/no/such/file"}, 3, []string{"no/such/file"}},
		{"a configuration that is no mapping", []string{"--config", filepath.Join(dir, "list.yaml")}, 3, []string{"mapping"}},
		{"a configuration that is missing", []string{"--config", filepath.Join(dir, "missing.yaml")}, 3, []string{"missing.yaml"}},
		{"no usable rule", []string{"-r", filepath.Join(dir, "bad")}, 2, []string{"Unknown modifier 'foo'", "invalid CIDR", "Error compiling rules"}},
		{"strict rules", []string{"-r", filepath.Join(dir, "mixed"), "--strict-rules"}, 2, []string{"b.yml", "Missing required field 'title'"}},
		{"an unknown level", []string{"-r", good, "--min-level", "urgent"}, 3, []string{"urgent", "critical"}},
		{"an unknown status", []string{"-r", good, "--exclude-rule", "status:old"}, 3, []string{"old"}},
		{"a bad field map", []string{"-r", good, "--logsource-routing", "--logsource-field-map", "os=linux"}, 3, []string{"os"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"engine", "daemon"}, tc.args...)
			if !strings.Contains(strings.Join(args, " "), "--api-addr") {
				args = append(args, "--api-addr", "127.0.0.1:0")
			}
			got := sluice(t, "", args...)
			if got.code != tc.code {
				t.Errorf("exit code %d, want %d\n%s", got.code, tc.code, got.stderr)
			}
			for _, w := range tc.want {
				if !strings.Contains(got.stderr, w) {
					t.Errorf("stderr lacks %q:\n%s", w, got.stderr)
				}
			}
		})
	}
}

func TestAFaultOfTheSettingsIsFoundBeforeAnythingIsTouched(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	broken := write(t, dir, "p.txt", "transformations: [{type: nonsense}]\n")
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"a pipeline that is broken", []string{"-p", "sysmon", "-p", broken}, "Error loading pipeline " + broken + ": "},
		{"a pipeline that is missing, with rules that are, too", []string{"-r", dir + "/none", "-p", "none.yml"}, "Error loading pipeline none.yml: "},
		{"plaintext on every address", []string{"--api-addr", "0.0.0.0:0"}, "refusing to bind plaintext"},
		{"an address that is none", []string{"--api-addr", "localhost:9090"}, "localhost:9090"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state")
			args := append([]string{"engine", "daemon", "-r", dir, "--state-db", state}, tc.args...)
			if !slices.Contains(args, "--api-addr") {
				args = append(args, "--api-addr", "127.0.0.1:0")
			}
			got := sluice(t, "", args...)
			if got.code != 3 || !strings.Contains(got.stderr, tc.want) {
				t.Errorf("exit code %d, want 3 and %q:\n%s", got.code, tc.want, got.stderr)
			}
			if _, err := os.Stat(state); err == nil || strings.Contains(got.stderr, "probes listening") {
				t.Errorf("the state was opened or the listener bound before:\n%s", got.stderr)
			}
		})
	}
}

func TestARuleSetWithoutRulesServesWithAWarning(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "excluded/a.yml", rule("A", "evil"))
	write(t, dir, "none/README.md", "no rule\n")
	for _, tc := range []struct {
		name     string
		args     []string
		excluded string
	}{
		{"an empty directory", []string{"-r", filepath.Join(dir, "none"), "--strict-rules"}, "0"},
		{"every rule excluded", []string{"-r", filepath.Join(dir, "excluded"), "--min-level", "critical"}, "1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := start(t, append(tc.args, "--input", "http")...)
			d.awaitLog("no rule is loaded")
			rules := d.get("/api/v1/rules").json(t)
			if d.get("/readyz").status != 200 || fmt.Sprint(rules["detection_rules"]) != "0" || fmt.Sprint(rules["excluded"]) != tc.excluded {
				t.Errorf("ready %d, rules %v, want 200, no rule and %s excluded", d.get("/readyz").status, rules, tc.excluded)
			}
			d.push(event("evil"))
			d.stop()
			if got := d.stdout.String(); got != "" {
				t.Errorf("results %q, want none", got)
			}
		})
	}
}

func TestABrokenDocumentLeavesTheOthersServing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	write(t, dir, "b.yml", "id: x\n")
	d := start(t, "-r", dir, "--input", "http")
	if got := d.metric("svc_rules_rejected"); got != 1 {
		t.Errorf("svc_rules_rejected %v, want 1", got)
	}
	rules := d.get("/api/v1/rules").json(t)
	if fmt.Sprint(rules["detection_rules"]) != "1" || !strings.Contains(fmt.Sprint(rules["rejected"]), "Missing required field 'title'") {
		t.Errorf("rules %v", rules)
	}
	reload := func(ready bool) {
		t.Helper()
		before := d.metric("svc_reloads_total")
		if a := d.do("POST", "/api/v1/reload", ""); a.status != 200 || strings.TrimSpace(a.body) != `{"status":"reload_triggered"}` {
			t.Fatalf("reload: %d %s", a.status, a.body)
		}
		d.await("reload pass", func() bool { return d.metric("svc_reloads_total") > before && !d.reloading() })
		want := map[bool]int{true: 200, false: 503}[ready]
		d.await(fmt.Sprintf("readiness %d", want), func() bool { return d.get("/readyz").status == want })
	}
	reload(true) // a document rejected before does not fail a pass
	replace(t, dir, "c.yml", "title: C\ndetection: {sel: {C|foo: x}, condition: sel}\n")
	d.await("failed pass", func() bool { return d.metric("svc_reloads_failed_total") >= 1 })
	if d.get("/readyz").status != 503 || d.metric("svc_rules_rejected") != 1 {
		t.Error("a newly rejected document must turn readiness off and leave the gauge alone")
	}
	d.push(event("evil"))
	if got := d.stdout.String(); got != resultLine("A", "evil")+"\n" {
		t.Errorf("results %q: the old rules must go on", got)
	}
	if err := os.Remove(filepath.Join(dir, "c.yml")); err != nil {
		t.Fatal(err)
	}
	d.await("ready again", func() bool { return d.get("/readyz").status == 200 })
	d.stop()
}

// reloading reports whether a pass is waiting or under way.
func (d *daemon) reloading() bool {
	a := d.get("/api/v1/actors/reload")
	return a.status != 200 || !strings.Contains(a.body, `"depth":0`)
}

func TestRulesFollowTheirFiles(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, dir string)
	}{
		{"written in place", func(t *testing.T, dir string) { t.Helper(); write(t, dir, "a.yml", rule("B", "evil")) }},
		{"renamed over, as editors do", func(t *testing.T, dir string) {
			t.Helper()
			tmp := write(t, dir, ".a.yml.swp", rule("B", "evil"))
			if err := os.Rename(tmp, filepath.Join(dir, "a.yml")); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "a.yml", rule("A", "evil"))
			d := start(t, "-r", dir, "--input", "http")
			tc.change(t, dir)
			d.await("pass", func() bool { return d.metric("svc_reloads_total") >= 1 })
			d.await("new rule", func() bool {
				d.push(event("evil"))
				return strings.Contains(d.stdout.String(), `"rule_title":"B"`)
			})
			d.stop()
		})
	}
}

func TestRulesInAMountedVolumeFollowItsSwap(t *testing.T) {
	dir := t.TempDir()
	volume := func(name, content string) {
		write(t, dir, name+"/a.yml", content)
		link := filepath.Join(dir, "..data_tmp")
		if err := os.Symlink(name, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link, filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	volume("..2026_1", rule("A", "evil"))
	if err := os.Symlink("..data/a.yml", filepath.Join(dir, "a.yml")); err != nil {
		t.Fatal(err)
	}
	d := start(t, "-r", dir, "--input", "http")
	volume("..2026_2", rule("B", "evil"))
	d.await("pass", func() bool { return d.metric("svc_reloads_total") >= 1 })
	d.await("new rule", func() bool {
		d.push(event("evil"))
		return strings.Contains(d.stdout.String(), `"rule_title":"B"`)
	})
	if strings.Count(d.get("/api/v1/rules").body, `"detection_rules":1`) != 1 {
		t.Errorf("rules %s, want one: files behind dot entries are read through their links only", d.get("/api/v1/rules").body)
	}
	loads := func() int { return strings.Count(d.stderr.String(), `"message":"rules loaded"`) }
	d.await("the log of both", func() bool { return loads() == 2 }) // it is written behind what it tells
	passes := d.metric("svc_reloads_total")
	volume("..2026_3", rule("B", "evil"))
	d.await("pass over a copy", func() bool { return d.metric("svc_reloads_total") > passes && !d.reloading() })
	if got := loads(); got != 2 {
		t.Errorf("rules were loaded %d times, want 2: the copy is equal", got)
	}
	d.stop()
}

func TestSIGHUPReloads(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	d := start(t, "-r", dir, "--input", "http")
	d.signal(syscall.SIGHUP)
	d.await("pass", func() bool { return d.metric("svc_reloads_total") == 1 })
	if got := d.metric("svc_reloads_failed_total"); got != 0 {
		t.Errorf("failed passes %v, want 0", got)
	}
	d.stop()
}

func TestSeriesOfARuleEndWithTheSecondReloadWithoutIt(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	d := start(t, "-r", dir, "--input", "http")
	d.push(event("evil"))
	present := func() bool {
		return strings.Contains(d.get("/metrics").body, `svc_detection_matches_by_rule_total{level="high",rule_title="A"}`)
	}
	d.await("series", present)
	replace(t, dir, "a.yml", rule("B", "evil"))
	d.await("another rule", func() bool {
		return strings.Contains(d.stderr.String(), `"message":"reload finished"`) && !d.reloading()
	})
	if gone := !present(); gone && d.metric("svc_reloads_total") == 1 {
		t.Error("the series went with the first reload")
	}
	d.do("POST", "/api/v1/reload", "") // which finds nothing changed
	d.await("the end of the series", func() bool { return !present() })
	d.stop()
}

func TestSeveralTriggersShareAPass(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	d := start(t, "-r", dir, "--input", "http")
	for i := range 5 {
		replace(t, dir, fmt.Sprintf("n%d.yml", i), rule(fmt.Sprintf("N%d", i), "evil"))
		d.do("POST", "/api/v1/reload", "")
	}
	d.await("six rules", func() bool { return d.metric("svc_detection_rules_loaded") == 6 })
	// One, unless this machine held the test up; the exact rule is shown in virtual time.
	if got := d.metric("svc_reloads_total"); got >= 10 {
		t.Errorf("%v passes for ten triggers", got)
	}
	d.stop()
}

func TestSIGTERMLosesNothingThatWasAccepted(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	out := filepath.Join(dir, "out.ndjson")
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+out, "--drain-timeout", "60")
	const bodies, lines = 40, 500
	body := strings.Repeat(event("evil")+"\n", lines)
	for range bodies {
		if a := d.do("POST", "/api/v1/events", body); a.status != 200 {
			t.Fatalf("push: %d %s", a.status, a.body)
		}
	}
	d.stop()
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(raw), "\n"); got != bodies*lines {
		t.Errorf("%d results, want %d", got, bodies*lines)
	}
}

// unread makes a named pipe that somebody holds open and never reads: a sink that
// is stuck once the pipe is full.
func unread(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "stuck")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	reader, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
	return path
}

func TestACommitIsAnsweredWhenTheDrainEnds(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+unread(t, dir), "--drain-timeout", "1")
	if a := d.do("POST", "/api/v1/events", strings.Repeat(event("evil")+"\n", 2000)); a.status != 200 {
		t.Fatalf("push: %d %s", a.status, a.body)
	}
	answered := make(chan answer, 1)
	go func() {
		defer close(answered)
		answered <- d.do("POST", "/api/v1/events?commit=true", event("evil"))
	}()
	d.await("the line", func() bool { return d.metric("svc_events_processed_total") == 2001 })
	d.stop()
	a := <-answered
	if a.status != 503 || !strings.Contains(a.body, `"error":"commit deadline passed","accepted":1`) {
		t.Errorf("%d %s, want 503 and how many lines were accepted", a.status, a.body)
	}
	left := d.logged("items left at the end of the drain")
	all := d.logged("drain timeout exceeded")
	if left == nil || all == nil || left["items"] != all["undelivered"] || left["items"].(float64) < 1 {
		t.Errorf("warnings %v and %v, want both with the same number of items", left, all)
	}
}

// An upload that is idle when the daemon ends does not keep it, and learns how much
// of it came in.
func TestAnIdleUploadIsAnsweredInADrain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, head, sent string }{
		{"a chunked one", "Transfer-Encoding: chunked", "17\r\n{\"a\":\"evil\"}\n{\"a\":\"x\"}\n\r\n"},
		{"where a chunk begins", "Transfer-Encoding: chunked", "17\r\n{\"a\":\"evil\"}\n{\"a\":\"x\"}\n\r\nff"},
		{"a counted one", "Content-Length: 1000", "{\"a\":\"evil\"}\n{\"a\":\"x\"}\n{"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "a.yml", rule("A", "evil"))
			d := start(t, "-r", dir, "--input", "http", "--drain-timeout", "60")
			c, err := net.Dial("tcp", d.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprintf(c, "POST /api/v1/events HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n%s", tc.head, tc.sent)
			d.await("both lines", func() bool { return d.metric("svc_events_processed_total") == 2 })
			d.stop()
			raw, _ := io.ReadAll(c)
			if got := string(raw); !strings.HasPrefix(got, "HTTP/1.1 503") || !strings.Contains(got, `{"error":"event channel closed","accepted":2}`) {
				t.Errorf("got %q, want 503 and how many lines were accepted", got)
			}
		})
	}
}

// A client may close its side when it has sent everything, and wait.
func TestACommitIsAnsweredOnAHalfClosedConnection(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	pipe := unread(t, dir)
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+pipe, "--drain-timeout", "60")
	if a := d.do("POST", "/api/v1/events", strings.Repeat(event("evil")+"\n", 2000)); a.status != 200 {
		t.Fatalf("push: %d %s", a.status, a.body)
	}
	c, err := net.Dial("tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := event("evil")
	fmt.Fprintf(c, "POST /api/v1/events?commit=true HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	d.await("the line", func() bool { return d.metric("svc_events_processed_total") == 2001 })
	// The sink goes on now.
	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	go func() { _, _ = io.Copy(io.Discard, f) }()
	raw, _ := io.ReadAll(c)
	if got := string(raw); !strings.HasPrefix(got, "HTTP/1.1 200") || !strings.Contains(got, `{"accepted":1}`) {
		t.Errorf("got %q, want 200", got)
	}
	d.stop()
}

// The last line of the log accounts for every line that was accepted, with those
// that the destination has got.
func TestTheLastWordCountsWhatWasNotDelivered(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	pipe := unread(t, dir)
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+pipe, "--drain-timeout", "1", "--buffer-size", "512")
	answers := make(chan answer, 10)
	for range cap(answers) {
		go func() { answers <- d.do("POST", "/api/v1/events", strings.Repeat(event("evil")+"\n", 3000)) }()
	}
	d.await("the input to be full", func() bool { return d.metric("svc_back_pressure_events_total") > 0 })
	d.stop()
	accepted := 0.0
	for range cap(answers) {
		var body struct{ Accepted float64 }
		if err := json.Unmarshal([]byte((<-answers).body), &body); err != nil {
			t.Fatal(err)
		}
		accepted += body.Accepted
	}
	last := d.logged("stopped")
	if last == nil {
		t.Fatal("there is no last line")
	}
	if last["dead_lettered"] != 0.0 || last["dropped"] != 0.0 {
		t.Errorf("the log says %v, want nothing dead or dropped", last)
	}
	if delivered := float64(wholeLinesIn(t, pipe)); last["accepted"] != accepted || last["undelivered"].(float64)+delivered != accepted {
		t.Errorf("accepted %v, delivered %v, the log says %v, want every line counted", accepted, delivered, last)
	}
}

// Rules in the wrong place look like no match at all, so whoever loads none says so.
func TestADirectoryWithoutRulesIsToldEverywhere(t *testing.T) {
	const why = "no rule is loaded, so nothing can match: below rules is no file whose name ends in .yml or .yaml"
	for name, file := range map[string]string{"an empty directory": "rules/", "a directory without rule files": "rules/rule.yml.txt"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "rules"), 0o755); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, "/") {
				write(t, dir, file, rule("A", "evil"))
			}
			write(t, dir, "sluice.yaml", "daemon: {rules: rules, api: {addr: '127.0.0.1:0'}}")
			for _, tc := range []struct{ args, want string }{
				{"engine eval -r rules", "warning: " + why},
				{"rule validate rules", "warning: " + why},
				{"config validate", "warning: ./sluice.yaml:1: daemon.rules: " + why},
				{"engine daemon", `"level":"WARN","target":"sluice.engine","fields":{"message":"` + why},
			} {
				cmd := command(t, strings.Fields(tc.args)...)
				cmd.Dir = dir
				if got := finish(t, cmd, event("evil")); got.code != 0 || !strings.Contains(got.stderr, tc.want) {
					t.Errorf("%s: exit code %d, want 0 and %q\n%s", tc.args, got.code, tc.want, got.stderr)
				}
			}
		})
	}
}

// wholeLinesIn counts the lines that wait in a named pipe, without the beginning of
// one that did not fit.
func wholeLinesIn(t *testing.T, path string) int {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_ = f.SetReadDeadline(time.Now().Add(time.Second))
	raw, _ := io.ReadAll(f)
	return strings.Count(string(raw), "\n")
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	for _, tc := range []struct {
		second syscall.Signal
		code   int
	}{{syscall.SIGTERM, 143}, {syscall.SIGINT, 130}} {
		t.Run(tc.second.String(), func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "rules/a.yml", rule("A", "evil"))
			d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+unread(t, dir), "--drain-timeout", "60", "--sink-retry-max", "1000000")
			a := d.do("POST", "/api/v1/events", strings.Repeat(event("evil")+"\n", 5000))
			if a.status != 200 {
				t.Fatalf("push: %d %s", a.status, a.body)
			}
			d.signal(syscall.SIGTERM)
			d.awaitLog("shutting down")
			for alive := true; alive; { // those within an echo of the first do not count
				_ = d.cmd.Process.Signal(tc.second)
				select {
				case <-d.done:
					alive = false
				case <-time.After(50 * time.Millisecond):
				}
			}
			if code := d.wait(); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
		})
	}
}
