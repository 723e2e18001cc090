package acceptance

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// burst is a rule for evil events and a correlation that fires at so many of
// them with the same U.
func burst(count int) string {
	return rule("Base", "evil") + fmt.Sprintf(`---
title: Burst
id: id-Burst
correlation:
  type: event_count
  rules: [id-Base]
  group-by: [U]
  timespan: 1h
  condition: {gte: %d}
level: high
`, count)
}

func evil(user string) string { return fmt.Sprintf(`{"C":"evil","U":%q}`, user) }

// startWithState starts a daemon on a state directory.
func startWithState(t *testing.T, rules, dir string, more ...string) *daemon {
	t.Helper()
	return start(t, append([]string{"-r", rules, "--input", "http", "--state-db", dir, "--log-level", "debug"}, more...)...)
}

// awaitSave waits until a save that began after now has become current.
func (d *daemon) awaitSave() {
	d.t.Helper()
	saves := func() int { return strings.Count(d.stderr.String(), `"state saved"`) }
	n := saves()
	d.await("two further saves", func() bool { return saves() >= n+2 })
}

// kill ends the daemon without asking it.
func (d *daemon) kill() {
	d.t.Helper()
	if err := d.cmd.Process.Kill(); err != nil {
		d.t.Fatal(err)
	}
	<-d.done
}

// fired are the values with which the correlation fired.
func (d *daemon) fired() []string {
	var values []string
	for _, line := range d.stdout.lines() {
		if strings.Contains(line, `"rule_title":"Burst"`) {
			_, rest, _ := strings.Cut(line, `"aggregated_value":`)
			value, _, _ := strings.Cut(rest, ",")
			values = append(values, value)
		}
	}
	return values
}

func (d *daemon) wantFired(want ...string) {
	d.t.Helper()
	if got := d.fired(); fmt.Sprint(got) != fmt.Sprint(want) {
		d.t.Errorf("the correlation fired with %v, want %v; results:\n%s", got, want, d.stdout)
	}
}

func TestWindowsSurviveARestart(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string // of the second start
		want []string
	}{
		{"the third event fires", nil, []string{"3"}},
		{"also when everything is to be kept", []string{"--keep-state"}, []string{"3"}},
		{"cleared state is gone", []string{"--clear-state"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			rules := write(t, dir, "rules.yml", burst(3))
			d := startWithState(t, rules, filepath.Join(dir, "state"))
			d.push(evil("a"), evil("b"), evil("a"))
			d.stop()
			d.wantFired()
			d = startWithState(t, rules, filepath.Join(dir, "state"), tc.args...)
			d.push(evil("a"))
			d.stop()
			d.wantFired(tc.want...)
		})
	}
}

// What came behind the barrier of the last save is missing, and nothing
// is counted twice.
func TestAKilledDaemonGoesOnFromItsLastSave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := write(t, dir, "rules.yml", burst(4))
	d := startWithState(t, rules, filepath.Join(dir, "state"), "--state-save-interval", "1")
	d.push(evil("a"), evil("a"))
	d.awaitSave()
	d.kill()

	d = startWithState(t, rules, filepath.Join(dir, "state"), "--state-save-interval", "3600")
	d.awaitLog("correlation state restored")
	d.push(evil("a"))
	d.kill()

	d = startWithState(t, rules, filepath.Join(dir, "state"))
	d.push(evil("a"))
	d.wantFired()
	d.push(evil("a"))
	d.stop()
	d.wantFired("4")
}

// Windows hold what was before the barrier.
func TestASaveHoldsExactlyWhatWasBeforeItsBarrier(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := write(t, dir, "rules.yml", burst(1000))
	d := startWithState(t, rules, filepath.Join(dir, "state"), "--state-save-interval", "3600")
	for range 50 {
		d.push(evil("a"))
	}
	d.stop()
	d = startWithState(t, rules, filepath.Join(dir, "state"), "--state-save-interval", "3600")
	for range 30 {
		d.push(evil("a"))
	}
	d.kill()
	d = startWithState(t, rules, filepath.Join(dir, "state"))
	groups := d.get("/api/v1/correlations/state").json(t)["groups"].([]any)
	if got := groups[0].(map[string]any)["got"]; len(groups) != 1 || got != 50.0 {
		t.Errorf("%d groups with %v events, want 1 with 50", len(groups), got)
	}
	d.stop()
}

func TestAStateDirectoryIsPrivateAndHasOneOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := write(t, dir, "rules.yml", burst(3))
	d := startWithState(t, rules, filepath.Join(dir, "state"))
	if info, err := os.Stat(filepath.Join(dir, "state")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v, want 0700", info.Mode(), err)
	}
	got := sluice(t, "", "engine", "daemon", "-r", rules, "--state-db", filepath.Join(dir, "state"), "--api-addr", "127.0.0.1:0")
	if got.code != 3 || !strings.Contains(got.stderr, "in use by another process") {
		t.Errorf("second daemon: code %d, want 3\n%s", got.code, got.stderr)
	}
	d.stop()
	got = sluice(t, "", "engine", "daemon", "-r", rules, "--clear-state", "--keep-state", "--api-addr", "127.0.0.1:0")
	if got.code != 3 || !strings.Contains(got.stderr, "--keep-state") {
		t.Errorf("code %d, want 3\n%s", got.code, got.stderr)
	}
}

// Damage costs the state and never the start.
func TestADamagedStateDirectoryIsSetAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	rules := write(t, dir, "rules.yml", burst(3))
	d := startWithState(t, rules, state)
	d.push(evil("a"), evil("a"))
	d.stop()
	tables, err := filepath.Glob(filepath.Join(state, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables %v, %v, want one at least", tables, err)
	}
	if err := os.Truncate(tables[0], 200); err != nil {
		t.Fatal(err)
	}
	d = startWithState(t, rules, state)
	if got := d.awaitLog("state directory cannot be used, starting empty")["set_aside"]; got != filepath.Join(state, "damaged") {
		t.Errorf("set aside to %v, want a directory below the state", got)
	}
	d.push(evil("a"), evil("a"))
	d.stop()
	d.wantFired()
	d = startWithState(t, rules, state)
	d.push(evil("a"))
	d.stop()
	d.wantFired("3")
}

func TestRestoredStateIsForTheRulesOfTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	three := write(t, dir, "three.yml", burst(3))
	d := startWithState(t, three, state)
	d.push(evil("a"), evil("a"))
	d.stop()

	// Without correlations the stored windows stay where they are.
	d = startWithState(t, write(t, dir, "none.yml", rule("Base", "evil")), state)
	d.push(evil("a"))
	d.stop()

	// Another timespan and threshold keep them, another shape does not.
	d = startWithState(t, write(t, dir, "four.yml", strings.Replace(burst(4), "1h", "2h", 1)), state)
	d.push(evil("a"))
	d.wantFired()
	d.push(evil("a"))
	d.stop()
	d.wantFired("4")
	d = startWithState(t, write(t, dir, "other.yml", strings.Replace(burst(2), "[U]", "[C, U]", 1)), state)
	if got := d.awaitLog("correlation state dropped")["reason"]; got != "shape_changed" {
		t.Errorf("dropped for %v, want shape_changed", got)
	}
	d.push(evil("a"))
	d.stop()
	d.wantFired()
}

func TestEntriesAboveTheLimitAreEvictedAtTheRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := write(t, dir, "rules.yml", burst(3))
	d := startWithState(t, rules, filepath.Join(dir, "state"))
	for i := range 20 {
		d.push(evil(fmt.Sprint("u", i)))
	}
	d.stop()
	d = startWithState(t, rules, filepath.Join(dir, "state"), "--max-state-entries", "10")
	d.awaitLog("correlation state evicted at restore")
	if got := d.metric("svc_correlation_state_entries"); got > 10 {
		t.Errorf("%v entries, want at most 10", got)
	}
	d.stop()
}

func TestBytesAboveTheLimitAreEvictedAtTheRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := write(t, dir, "rules.yml", burst(3))
	d := startWithState(t, rules, filepath.Join(dir, "state"))
	const groups, limit = 3000, 1 << 20
	evilAt := func(at int, user string) string {
		return fmt.Sprintf(`{"C":"evil","timestamp":%d,"U":%q}`, at, user)
	}
	var lines []string
	for i := range groups - 1 {
		lines = append(lines, evilAt(100+i, fmt.Sprint(strings.Repeat("u", 600), i)))
	}
	long := strings.Repeat("long", 50_000)
	d.push(append(lines, evilAt(3100, long))...)
	d.await("all groups", func() bool { return d.metric("svc_correlation_state_entries") == groups })
	if got := d.metric("svc_correlation_state_bytes"); got < groups*700 || got > groups*1500 {
		t.Errorf("%d groups with keys of 600 bytes take %v bytes", groups, got)
	}
	d.stop()
	d = startWithState(t, rules, filepath.Join(dir, "state"), "--max-state-bytes", "1MiB")
	if got := d.awaitLog("correlation state evicted at restore")["max_state_bytes"]; got != float64(limit) {
		t.Errorf("the limit is logged as %v", got)
	}
	if got := d.metric("svc_correlation_state_bytes"); got > limit || got < limit/2 {
		t.Errorf("%v bytes, want at most %d", got, limit)
	}
	// Texts above 1 KiB go on as they were.
	d.push(evilAt(3101, long), evilAt(3102, long+"er"), evilAt(3103, long))
	d.stop()
	d.wantFired("3")
}

// While a sink is stuck no save becomes current, and the one before it
// is restored.
func TestASaveWaitsForAStuckSink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := write(t, dir, "rules.yml", burst(1000))
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // nobody reads
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	d := startWithState(t, rules, filepath.Join(dir, "state"), "--state-save-interval", "1", "--output", "file://"+pipe, "--drain-timeout", "1")
	d.push(evil("a"), evil("a"))
	d.awaitSave()
	var lines []string
	for range 3000 {
		lines = append(lines, evil("b"))
	}
	answered := make(chan struct{})
	go func() { // until the daemon dies, since its lines are not delivered
		defer close(answered)
		url := "http://" + d.addr + "/api/v1/events?commit=true"
		if a, err := http.Post(url, "application/x-ndjson", strings.NewReader(strings.Join(lines, "\n"))); err == nil {
			_ = a.Body.Close()
		}
	}()
	saves := func() int { return strings.Count(d.stderr.String(), `"state saved"`) }
	d.await("an end of the saves", func() bool {
		n := saves()
		time.Sleep(2500 * time.Millisecond)
		return saves() == n
	})
	d.kill()
	<-answered

	d = startWithState(t, rules, filepath.Join(dir, "state"))
	for _, g := range d.get("/api/v1/correlations/state").json(t)["groups"].([]any) {
		switch g := g.(map[string]any); g["group_key_display"] {
		case "U=a":
			if g["got"] != 2.0 {
				t.Errorf("%v events of a, want 2", g["got"])
			}
		case "U=b":
			if g["got"].(float64) >= 3000 {
				t.Errorf("%v events of b, want only such as were delivered", g["got"])
			}
		}
	}
	d.stop()
}
