package daemon

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/state"
)

func TestAFileThatCannotBeReadFailsAPass(t *testing.T) {
	c := newCacheTest(t)
	cfg := &config.Loaded{Config: config.Default()}
	cfg.Config.Daemon.Rules = []string{c.dir}
	r, err := newRules(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	serving, err := r.build(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.dangling("z.yml")
	if _, err := r.next(t.Context(), serving); err == nil || !strings.Contains(err.Error(), "z.yml") {
		t.Errorf("the pass ended with %v, want z.yml newly rejected", err)
	}
	if err := os.Remove(filepath.Join(c.dir, "z.yml")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.next(t.Context(), serving); !errors.Is(err, errUnchanged) {
		t.Errorf("the pass ended with %v, want nothing changed", err)
	}
}

func TestAStartThatIsToldToEndLeavesNothingBehind(t *testing.T) {
	c := newCacheTest(t)
	socket := filepath.Join(t.TempDir(), "s")
	cfg := &config.Loaded{Config: config.Default()}
	cfg.Config.Daemon.Rules = []string{c.dir}
	cfg.Config.Daemon.API.Addr = "unix://" + socket
	cfg.Config.Daemon.State.DB = filepath.Join(t.TempDir(), "state")
	o := Options{Config: cfg, Log: slog.New(slog.DiscardHandler), In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("the start ended with %v, want what ended it", err)
	}
	if _, err := os.Stat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket file is left: %v", err)
	}
	store, err := state.Open(cfg.Config.Daemon.State.DB, o.Log)
	if err != nil {
		t.Fatalf("the state database is still open: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

func TestProblemsAreLoggedWithWhatIsKnown(t *testing.T) {
	for _, tc := range []struct {
		name string
		p    sigma.Problem
		want []any
	}{
		{
			"a rejection",
			sigma.Problem{File: "a.yml", Document: 2, Line: 7, Title: "T", ID: "i", Stage: sigma.StageParse, Reason: "r"},
			[]any{"file", "a.yml", "document", 2, "stage", "parse", "reason", "r", "line", 7, "title", "T", "id", "i"},
		},
		{"a file that cannot be read", sigma.Problem{File: "a.yml", Stage: sigma.StageParse, Reason: "r"}, []any{"file", "a.yml", "document", 0, "stage", "parse", "reason", "r"}},
		{"a warning about no document", sigma.Problem{Reason: "r"}, []any{"reason", "r"}},
	} {
		if got := problemAttrs(tc.p); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}
