package acceptance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// auditEntry is an entry of the trail as clients read it.
type auditEntry struct {
	ID            int64   `json:"id"`
	TS            int64   `json:"ts"`
	Method        string  `json:"method"`
	Endpoint      string  `json:"endpoint"`
	Token         string  `json:"token,omitempty"`
	PayloadDigest *string `json:"payload_digest"`
	Status        int     `json:"status"`
}

func (e auditEntry) String() string {
	return fmt.Sprintf("%d %s %s %d", e.ID, e.Method, e.Endpoint, e.Status)
}

// audit asks for a page of the trail.
func (d *daemon) audit(query string) (count int, entries []auditEntry) {
	d.t.Helper()
	a := d.get("/api/v1/audit" + query)
	var page struct {
		Count   int
		Entries []auditEntry
	}
	if err := json.Unmarshal([]byte(a.body), &page); err != nil || a.status != 200 {
		d.t.Fatalf("audit: %d %s, %v", a.status, a.body, err)
	}
	return page.Count, page.Entries
}

// wantAudit fails unless the trail is as described, newest first.
func (d *daemon) wantAudit(want ...string) {
	d.t.Helper()
	_, entries := d.audit("?limit=1000")
	var got []string
	for _, e := range entries {
		got = append(got, e.String())
	}
	if !slices.Equal(got, want) {
		d.t.Errorf("the trail is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func sha256Of(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// full is an unread pipe that has no room left.
func full(t *testing.T, dir string) (path string) {
	t.Helper()
	path = unread(t, dir)
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	for err == nil {
		_, err = syscall.Write(fd, []byte("x"))
	}
	if !errors.Is(err, syscall.EAGAIN) {
		t.Fatal(err)
	}
	return path
}

func auditRules(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	return dir
}

// auditConfig writes a file with the section daemon.api.audit and returns the flags that name it.
func auditConfig(t *testing.T, section string) []string {
	t.Helper()
	return []string{"--config", write(t, t.TempDir(), "sluice.yaml", "daemon: {api: {audit: {"+section+"}}}\n")}
}

// A daemon that is killed behind each answer has every row, and its ids go on.
func TestTheAuditTrailSurvivesAKillAfterEachAnswer(t *testing.T) {
	rules, state := auditRules(t), filepath.Join(t.TempDir(), "state")
	changes := []struct {
		method, path, body string
		status             int
		entry              string
	}{
		{"POST", "/api/v1/reload", "", 200, "POST /api/v1/reload 200"},
		{"PATCH", "/api/v1/actors/parse", `{"mailbox_capacity":50}`, 200, "PATCH /api/v1/actors/{name} 200"},
		{"PATCH", "/api/v1/actors/nobody", `{"mailbox_capacity":50}`, 404, "PATCH /api/v1/actors/{name} 404"},
		{"DELETE", "/api/v1/sources/cache/a", "", 200, "DELETE /api/v1/sources/cache/{source_id} 200"},
		{"POST", "/api/v1/dispositions", `{"rule_id":"r1","verdict":"false_positive"}`, 503, "POST /api/v1/dispositions 503"},
		{"POST", "/api/v1/sources/resolve", "{", 400, "POST /api/v1/sources/resolve 400"},
	}
	var want []string
	for i, c := range changes {
		var more []string
		if i == 3 {
			more = []string{"--clear-state"} // which leaves the trail alone
		}
		d := startWithState(t, rules, state, more...)
		d.wantAudit(want...)
		if a := d.do(c.method, c.path, c.body); a.status != c.status {
			t.Fatalf("%s %s: %d %s, want %d", c.method, c.path, a.status, a.body, c.status)
		}
		d.kill()
		want = append([]string{fmt.Sprintf("%d %s", i+1, c.entry)}, want...)
	}
	d := startWithState(t, rules, state)
	d.wantAudit(want...)
	_, entries := d.audit("?limit=1&offset=1")
	if got := entries[0].PayloadDigest; got == nil || *got != "4085d5b3641a3dae25a6603108dd7a37e99f73c388547dfe2da509f260ec4159" {
		t.Errorf("the digest of the disposition is %v", got)
	}
	d.stop()
}

// Many clients change something at once when the daemon is killed: whoever was answered
// is in the trail, once.
func TestTheAuditTrailHasEveryAnswerOfAKilledDaemon(t *testing.T) {
	rules, state := auditRules(t), filepath.Join(t.TempDir(), "state")
	d := startWithState(t, rules, state)
	const clients, enough = 4, 40
	answered := make(chan string, 1<<16)
	done := make(chan struct{}, clients)
	for c := range clients {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := 0; ; i++ {
				body := fmt.Sprintf(`{"client":%d,"request":%d}`, c, i)
				req, err := http.NewRequest("PATCH", "http://"+d.addr+"/api/v1/actors/parse", strings.NewReader(body))
				if err != nil {
					return
				}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					return // killed
				}
				_ = resp.Body.Close()
				answered <- sha256Of(body)
			}
		}()
	}
	var digests []string
	for range enough {
		digests = append(digests, <-answered)
	}
	d.kill()
	for range clients {
		<-done
	}
	close(answered)
	for digest := range answered {
		digests = append(digests, digest)
	}
	d = startWithState(t, rules, state)
	count, entries := d.audit("?limit=1000")
	for len(entries) < count {
		_, more := d.audit(fmt.Sprintf("?limit=1000&offset=%d", len(entries)))
		entries = append(entries, more...)
	}
	seen := make(map[string]int)
	for i, e := range entries {
		seen[*e.PayloadDigest]++
		if i > 0 && e.ID >= entries[i-1].ID {
			t.Errorf("entry %d stands behind %d", e.ID, entries[i-1].ID)
		}
	}
	for _, digest := range digests {
		if seen[digest] != 1 {
			t.Errorf("an answered change is in the trail %d times", seen[digest])
		}
	}
	if count < len(digests) || count > len(digests)+clients {
		t.Errorf("%d entries for %d answers to %d clients", count, len(digests), clients)
	}
	d.stop()
}

func TestIdsOfTheAuditTrailOutliveTheirEntries(t *testing.T) {
	rules, state := auditRules(t), filepath.Join(t.TempDir(), "state")
	d := startWithState(t, rules, state)
	for range 5 {
		d.do("DELETE", "/api/v1/sources/cache/a", "")
	}
	d.kill()
	const entry = " DELETE /api/v1/sources/cache/{source_id} 200"
	d = startWithState(t, rules, state, auditConfig(t, "max_entries: 2")...)
	d.wantAudit("5"+entry, "4"+entry)
	d.kill()
	d = startWithState(t, rules, state, auditConfig(t, "max_entries: 0")...)
	d.wantAudit()
	d.do("DELETE", "/api/v1/sources/cache/a", "")
	d.wantAudit("6" + entry) // until the next prune
	d.kill()
	d = startWithState(t, rules, state, append(auditConfig(t, "max_entries: 0"), "--state-save-interval", "1")...)
	d.do("DELETE", "/api/v1/sources/cache/a", "")
	d.await("the interval to prune", func() bool { count, _ := d.audit("?limit=0"); return count == 0 })
	if got := d.metric("svc_audit_records_total"); got != 1 {
		t.Errorf("%g records counted, want 1", got)
	}
	d.stop()
}

func TestTheAuditTrailIsPassedToItsSink(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "audit.ndjson")
	d := startWithState(t, auditRules(t), filepath.Join(dir, "state"), auditConfig(t, "max_body_bytes: 16, sink: 'file://"+out+"'")...)
	d.do("PATCH", "/api/v1/actors/parse", strings.Repeat("x", 17))
	d.do("PATCH", "/api/v1/actors/parse", strings.Repeat("x", 16))
	d.await("both records", func() bool { return len(output(out).lines()) == 2 })
	d.await("the actor that tells of both", func() bool { // a line is there before it is counted
		got := d.get("/api/v1/actors/audit").json(t)
		return got["kind"] == "control" && fmt.Sprint(got["detail"]) == "map[dropped:0 written:2]"
	})
	// A reload opens the file again, as after a rotation.
	if err := os.Rename(out, out+".1"); err != nil {
		t.Fatal(err)
	}
	d.do("POST", "/api/v1/reload", "")
	d.await("the file to be there again", func() bool {
		d.do("DELETE", "/api/v1/sources/cache/a", "")
		return len(output(out).lines()) > 0
	})
	// What was answered before the end is in the file at the end.
	for range 20 {
		d.do("DELETE", "/api/v1/sources/cache/a", "")
	}
	_, entries := d.audit("?limit=1000")
	var want []string
	for _, e := range slices.Backward(entries) {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(line))
	}
	d.signal(syscall.SIGTERM)
	if code := d.wait(); code != 0 {
		t.Errorf("exit code %d, want 0\n%s", code, d.stderr)
	}
	if got := append(output(out+".1").lines(), output(out).lines()...); !slices.Equal(got, want) {
		t.Errorf("the sink got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want[0] != fmt.Sprintf(`{"id":1,"ts":%d,"method":"PATCH","endpoint":"/api/v1/actors/{name}","payload_digest":null,"status":413}`, entries[len(entries)-1].TS) {
		t.Errorf("the first record is %s", want[0])
	}
}

// A sink that takes nothing costs records on their way to it, and nothing else.
func TestAStuckAuditSinkDropsAndCounts(t *testing.T) {
	dir := t.TempDir()
	d := startWithState(t, auditRules(t), filepath.Join(dir, "state"),
		append(auditConfig(t, "sink: 'file://"+full(t, dir)+"'"), "--mailbox-size", "audit=4", "--drain-timeout", "0")...)
	for range 10 { // of which one to four are in hand, and four wait
		if a := d.do("PATCH", "/api/v1/actors/parse", `{"mailbox_capacity":50}`); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	if got := d.metric("svc_audit_write_errors_total"); got < 2 || got > 5 {
		t.Errorf("%g write errors, want those of the records beyond the queue", got)
	}
	count, _ := d.audit("?limit=0")
	if got := d.metric("svc_audit_records_total"); got != float64(count) {
		t.Errorf("%g records counted, %d stored", got, count)
	}
	d.awaitLog("audit record not passed to its sink")
	d.stop()
}

func TestBodiesOfHTTP2AreRecorded(t *testing.T) {
	d := startWithState(t, auditRules(t), filepath.Join(t.TempDir(), "state"), auditConfig(t, "max_body_bytes: 64")...)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	patch := func(body string) int {
		t.Helper()
		req, err := http.NewRequest("PATCH", "http://"+d.addr+"/api/v1/actors/parse", io.MultiReader(strings.NewReader(body))) // of no known length
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	const body = `{"mailbox_capacity":50}`
	if got := patch(body); got != 200 {
		t.Errorf("status %d, want 200", got)
	}
	if got := patch(strings.Repeat("x", 1<<20)); got != 413 {
		t.Errorf("status %d, want 413", got)
	}
	d.wantAudit("2 PATCH /api/v1/actors/{name} 413", "1 PATCH /api/v1/actors/{name} 200")
	_, entries := d.audit("")
	if got := entries[1].PayloadDigest; got == nil || *got != sha256Of(body) || entries[0].PayloadDigest != nil {
		t.Errorf("the digests are wrong: %+v", entries)
	}
	d.stop()
}

func TestTheAuditTrailIsSwitchedOff(t *testing.T) {
	const disabled = `"error":"audit trail disabled"`
	rules := auditRules(t)
	off := startWithState(t, rules, filepath.Join(t.TempDir(), "state"), auditConfig(t, "enabled: false, sink: 'file:///nowhere/audit'")...)
	off.awaitLog("has no effect without the audit trail")
	for name, d := range map[string]*daemon{
		"without a database": start(t, "-r", rules, "--input", "http"),
		"by its key":         off,
	} {
		d.do("POST", "/api/v1/reload", "")
		if a := d.get("/api/v1/audit"); a.status != 503 || !strings.Contains(a.body, disabled) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if _, there := d.findMetric("svc_audit_records_total"); there {
			t.Errorf("%s: the series of records is there", name)
		}
		if got := d.metric("svc_audit_write_errors_total"); got != 0 {
			t.Errorf("%s: %g write errors", name, got)
		}
		d.stop()
	}
}

func TestAuditSinksThatRefuseTheStart(t *testing.T) {
	plainly(t)
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	shared := "file://" + filepath.Join(dir, "out")
	for _, tc := range []struct{ name, sink, want string }{
		{"a format", "stdout?format=ndjson", "daemon.api.audit.sink: sink 'stdout?format=ndjson': format= is only supported on findings sinks"},
		{"a directory that is not there", "file://" + filepath.Join(dir, "gone", "audit"), "daemon.api.audit.sink: "},
		{"a socket that nobody listens on", "unix://" + filepath.Join(dir, "gone.sock"), "daemon.api.audit.sink: "},
		{"the file of another sink", shared + "?on_full=block", "write to the same file"},
		{"no kind of sink", "pulsar://x", "Unsupported output sink 'pulsar://x'"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{
				"engine", "daemon", "-r", filepath.Join(dir, "rules"), "--input", "http", "--api-addr", "127.0.0.1:0",
				"--state-db", filepath.Join(dir, "state"), "--output", shared,
			}, auditConfig(t, "sink: '"+tc.sink+"'")...)
			if got := sluice(t, "", args...); got.code != 3 || !strings.Contains(got.stderr, tc.want) {
				t.Errorf("exit code %d, want 3 with %q:\n%s", got.code, tc.want, got.stderr)
			}
		})
	}
}
