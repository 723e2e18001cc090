package daemon

import (
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
)

// An actor that uses up its restart budget, as the process sees it.
func TestAnActorWithoutRestartsLeftEndsTheDaemon(t *testing.T) {
	cfg := counting(t)
	cfg.Config.Daemon.Actors.MaxRestarts, cfg.Config.Daemon.Output.DrainTimeout = 0, 30
	d, err := New(t.Context(), Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Out: io.Discard, Err: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	d.call("POST", "/api/v1/events?commit=true", `{"C":"evil","U":"a"}`)
	if err := d.dataflow.Parse.Client().Publish(t.Context(), &graph.RuleSet{}); err != nil { // correlate cannot serve it
		t.Fatal(err)
	}
	if code := d.await(nil, nil); code != exitRuntime {
		t.Errorf("exit code %d, want %d", code, exitRuntime)
	}
	for path, want := range map[string]string{
		"/healthz": `{"status":"failing","error":"actor 'correlate' has used up its restart budget","actor":"correlate"}`,
		"/readyz":  `{"status":"not_ready","rules_loaded":false}`,
	} {
		w := httptest.NewRecorder()
		d.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if got := strings.TrimSpace(w.Body.String()); w.Code != 503 || got != want {
			t.Errorf("%s: %d %s, want 503 %s", path, w.Code, got, want)
		}
	}
	begin := time.Now()
	if err := d.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("the end took %s of the 30 s that a drain may take: nothing gets past the actor", took)
	}
}
