package daemon

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/cmd/sluice/config"
)

// unsynced is a file whose disk does not answer when it is synced.
type unsynced struct {
	sink.Transport
	asked, answer chan struct{}
}

// Close syncs and closes the file, once the disk answers.
func (u *unsynced) Close() error {
	close(u.asked)
	<-u.answer
	return u.Transport.Close()
}

// A disk that does not answer at the end costs neither the last save, nor what was
// delivered, nor the exit.
func TestASyncThatHangsHoldsUpNeitherTheSaveNorTheExit(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rules.yml"), []byte(onceRules), 0o600); err != nil {
		t.Fatal(err)
	}
	found := filepath.Join(dir, "found")
	var log bytes.Buffer // read when the daemon has ended
	options := func(log *slog.Logger) Options {
		cfg := &config.Loaded{Config: config.Default()}
		c := &cfg.Config.Daemon
		c.Rules, c.Input.Sources, c.API.Addr, c.State.DB = []string{filepath.Join(dir, "rules.yml")}, []string{"http"}, "127.0.0.1:0", filepath.Join(dir, "state")
		c.Output.Sinks = []string{"file://" + found}
		c.API.Audit.Sink = "file://" + filepath.Join(dir, "audit")
		return Options{Config: cfg, Log: log, Out: os.Stderr, Err: os.Stderr}
	}
	var hung []*unsynced // the sink of results and that of the audit trail
	o := options(slog.New(slog.NewTextHandler(&log, nil)))
	o.transport = func(s sink.Spec, e sink.Environment) (t sink.Transport, err error) {
		if t, err = sink.Open(s, e); err != nil {
			return nil, err
		}
		u := &unsynced{Transport: t, asked: make(chan struct{}), answer: make(chan struct{})}
		hung = append(hung, u)
		return u, nil
	}
	d, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	var events []string
	for n := range 20 {
		events = append(events, event(n))
	}
	d.call("POST", "/api/v1/events?commit=true", strings.Join(events, "\n"))
	var stopped error
	var wg sync.WaitGroup
	wg.Go(func() { stopped = d.Stop() })

	if len(hung) != 2 {
		t.Fatalf("%d sinks were opened, want 2", len(hung))
	}
	for _, u := range hung {
		<-u.asked // and it does not answer: what comes now is complete
	}
	if text, err := os.ReadFile(found); err != nil || bytes.Count(text, []byte("\n")) < 20 {
		t.Errorf("the file holds %s, %v", text, err)
	}
	next, err := New(t.Context(), options(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatalf("the state is not there while the sync hangs: %v", err)
	}
	if err := next.Start(); err != nil {
		t.Fatal(err)
	}
	if count, distinct := next.totals(); count != 20 || distinct != 20 {
		t.Errorf("the windows hold %d events, %d different ones, want 20", count, distinct)
	}
	if err := next.Stop(); err != nil {
		t.Error(err)
	}
	wg.Wait() // nobody answers, and yet it ends
	if stopped == nil || !strings.Contains(stopped.Error(), "not closed in time: audit, file") {
		t.Errorf("the daemon ended with %v", stopped)
	}
	if strings.Contains(log.String(), "drain timeout") {
		t.Errorf("the log tells of a drain that took too long:\n%s", log.String())
	}
	for _, u := range hung {
		close(u.answer)
	}
}
