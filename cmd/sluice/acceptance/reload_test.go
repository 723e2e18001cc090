package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/terminaltest"
)

// reloads is what the status tells of reloads.
type reloads struct {
	Status  string
	Pending *bool `json:"reload_pending"`
	Last    *struct {
		OK      bool
		At      time.Time
		Trigger string
		Error   *string
	} `json:"last_reload"`
}

func (d *daemon) reloads() (r reloads) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(d.get("/api/v1/status").body), &r); err != nil || r.Pending == nil || r.Status != "running" {
		d.t.Fatalf("status %+v, %v, want it running, with reload_pending", r, err)
	}
	return r
}

// awaitReload waits until a reload with this trigger has ended, and nothing is pending.
func (d *daemon) awaitReload(trigger string, ok bool) {
	d.t.Helper()
	d.await("reload by "+trigger, func() bool {
		r := d.reloads()
		return !*r.Pending && r.Last != nil && r.Last.Trigger == trigger && r.Last.OK == ok
	})
}

func TestAReloadThatFailedIsSeen(t *testing.T) {
	const gauge, success = "svc_last_reload_successful", "svc_last_reload_success_timestamp_seconds"
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	d := startIn(t, dir, "-r", "rules", "--input", "http")
	if r := d.reloads(); *r.Pending || r.Last != nil {
		t.Errorf("before any reload: %+v, want nothing pending and no last_reload", r)
	}
	loaded := d.metric(success)
	if d.metric(gauge) != 1 || loaded < float64(time.Now().Add(-patience).Unix()) {
		t.Errorf("before any reload the gauges are %v and %v, want 1 and the time of the start", d.metric(gauge), loaded)
	}
	reload := func(code int, want string) {
		t.Helper()
		got := sluice(t, "", "config", "reload", "--addr", d.addr, "--wait="+patience.String())
		lines := wholeLines(got.stderr)
		if got.code != code || len(lines) != 2 || !strings.HasSuffix(lines[0], "/api/v1/reload") || !strings.Contains(lines[1], want) {
			t.Errorf("reload: code %d, stderr %q, want %d and %q", got.code, lines, code, want)
		}
	}

	reload(0, "reloaded")
	d.awaitReload("api", true)
	if r := d.reloads(); r.Last.Error != nil || r.Last.At.Location() != time.UTC {
		t.Errorf("after a good reload: %+v, want a time in UTC and no error", *r.Last)
	}
	good := d.metric(success)
	if d.metric(gauge) != 1 || good <= loaded {
		t.Errorf("after a good reload the gauges are %v and %f, want 1 and later than %f", d.metric(gauge), good, loaded)
	}

	replace(t, dir, "rules/b.yml", "title: B\ndetection: {sel: {C|contans: x}, condition: sel}\n")
	d.awaitReload("file", false)
	reload(1, "rules: a rule document is newly rejected: rules/b.yml:2: ")
	d.awaitReload("api", false)
	if r := d.reloads(); r.Last.Error == nil || !strings.Contains(*r.Last.Error, "rules/b.yml") {
		t.Errorf("after a failed reload: %+v, want an error that names the file", *r.Last)
	}
	if d.metric(gauge) != 0 || d.metric(success) != good || d.get("/readyz").status != 503 {
		t.Errorf("after a failed reload the gauges are %v and %f, want 0 and %f; readiness %d", d.metric(gauge), d.metric(success), good, d.get("/readyz").status)
	}

	tty, written := terminaltest.Open(t, 80)
	status := command(t, "engine", "status", "--addr", d.addr)
	status.Stdout, status.Stderr = tty, tty
	if err := status.Run(); err != nil {
		t.Error(err)
	}
	if shown := written(); !strings.Contains(shown, "\x1b[31mlast_reload                failed 2") || !strings.Contains(shown, "\nrules_rejected             0\n") {
		t.Errorf("on a terminal the status is\n%s", shown)
	}

	if err := os.Remove(filepath.Join(dir, "rules", "b.yml")); err != nil {
		t.Fatal(err)
	}
	d.awaitReload("file", true)
	if d.metric(gauge) != 1 || d.metric(success) <= good || d.get("/readyz").status != 200 {
		t.Errorf("after the mend the gauges are %v and %f, want 1 and later than %f", d.metric(gauge), d.metric(success), good)
	}
	d.signal(syscall.SIGHUP)
	d.awaitReload("signal", true)
	d.stop()
	gone := sluice(t, "", "config", "reload", "--addr", d.addr, "--wait")
	if gone.code != 3 || !strings.Contains(gone.stderr, "is the daemon running?") {
		t.Errorf("without a daemon: code %d, stderr %q, want 3", gone.code, gone.stderr)
	}
}

func TestTheLogOnATerminalIsText(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want string // what the first line has
	}{
		{"unless a form was chosen", nil, "  INFO sluice.server: starting version="},
		{"as JSON", []string{"--log-format", "json"}, `"level":"INFO","target":"sluice.server","fields":{"message":"starting","version":"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "rules/a.yml", rule("A", "evil"))
			tty, written := terminaltest.Open(t, 80)
			cmd := command(t, append([]string{"engine", "daemon", "-r", "rules", "--api-addr", "127.0.0.1:0"}, tc.args...)...)
			cmd.Dir, cmd.Stderr = dir, tty
			if err := cmd.Run(); err != nil { // it has no input
				t.Error(err)
			}
			first, rest, _ := strings.Cut(written(), "\n")
			if !strings.Contains(first, tc.want) || !strings.Contains(rest, "stopped") || strings.Contains(rest, `{"timestamp"`) != (tc.args != nil) {
				t.Errorf("the log is\n%s\n%s", first, rest)
			}
		})
	}
}
