package daemon

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/graph/leaktest"
)

const childDir = "SLUICE_DAEMON_TEST_DIR"

// TestMain lets the test binary be the daemon that is killed.
func TestMain(m *testing.M) {
	switch dir, addr := os.Getenv(childDir), os.Getenv(childStream); {
	case addr != "":
		followStream(dir, addr)
	case dir != "":
		countForEver(dir)
	}
	leaktest.Main(m)
}

const countingRules = `title: Base
id: id-base
detection: {sel: {C: evil}, condition: sel}
---
title: Count
id: id-count
correlation: {type: event_count, rules: [id-base], group-by: [U], timespan: 1h, condition: {gte: 1000000}}
`

// counting is the configuration of a daemon with these rules, fed over HTTP.
func counting(t *testing.T) *config.Loaded {
	t.Helper()
	rules := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(rules, []byte(countingRules), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := &config.Loaded{Config: config.Default()}
	c := &cfg.Config.Daemon
	c.Rules, c.Input.Sources, c.API.Addr = []string{rules}, []string{"http"}, "127.0.0.1:0"
	return cfg
}

// stateful builds a daemon on the rules and the state below dir. Its log goes to w.
func stateful(dir string, log *slog.Logger) (*Daemon, error) {
	cfg := &config.Loaded{Config: config.Default()}
	c := &cfg.Config.Daemon
	c.Rules, c.Input.Sources, c.API.Addr = []string{filepath.Join(dir, "rules.yml")}, []string{"http"}, "127.0.0.1:0"
	c.State.DB = filepath.Join(dir, "state")
	c.Correlation.MaxStateEntries = 10 * manyGroups
	return New(context.Background(), Options{Config: cfg, Log: log, Out: io.Discard, Err: os.Stderr})
}

// call asks the daemon without a socket.
func (d *Daemon) call(method, path, body string) string {
	w := httptest.NewRecorder()
	d.Handler().ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	if w.Code != http.StatusOK {
		panic(fmt.Sprintf("%s %s: %d %s", method, path, w.Code, w.Body))
	}
	return w.Body.String()
}

// counted is how many events are in the window.
func (d *Daemon) counted() int {
	_, rest, _ := strings.Cut(d.call("GET", "/api/v1/correlations/state", ""), `"got":`)
	digits, _, _ := strings.Cut(rest, ",")
	n, _ := strconv.Atoi(digits)
	return n
}

// countForEver says how many events were restored and then a line for each that
// was acknowledged, saving all the time.
func countForEver(dir string) {
	d, err := stateful(dir, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		panic(err)
	}
	d.checkpointer.interval = time.Millisecond
	if err := d.Start(); err != nil {
		panic(err)
	}
	fmt.Println(d.counted())
	for {
		d.call("POST", "/api/v1/events?commit=true", `{"C":"evil","U":"a"}`)
		fmt.Println("+")
	}
}

// However a daemon dies while it saves under traffic, it
// starts with the last complete save, and nothing is counted twice.
func TestAKilledDaemonStartsWithItsLastCompleteSave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rules.yml"), []byte(countingRules), 0o644); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	least, most, grown := 0, 0, 0
	life := 20 * time.Millisecond // of a run at most; longer where that is too short for any save
	for round := range 100 {
		restored, acknowledged := runAndKill(t, dir, time.Duration(random.Int64N(int64(life))))
		if restored < least || restored > most {
			t.Fatalf("round %d: %d events restored, want %d to %d", round, restored, least, most)
		}
		if restored > least {
			grown++
		} else if grown == 0 && round > 0 {
			life *= 2
		}
		least, most = restored, restored+acknowledged+1 // one may have been under way
	}
	if grown == 0 {
		t.Error("no save was ever completed")
	}
	t.Logf("%d events in the end, %d of 100 runs saved some", least, grown)
}

// runAndKill runs the daemon until some time after it began to take events.
func runAndKill(t *testing.T, dir string, after time.Duration) (restored, acknowledged int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		_ = cmd.Wait()
		t.Fatalf("the daemon did not start:\n%s", log.String())
	}
	if restored, err = strconv.Atoi(lines.Text()); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	for lines.Scan() {
		acknowledged++
	}
	_ = cmd.Wait()
	if strings.Contains(log.String(), "level=WARN") || strings.Contains(log.String(), "level=ERROR") {
		t.Fatalf("the daemon complained:\n%s", log.String())
	}
	return restored, acknowledged
}
