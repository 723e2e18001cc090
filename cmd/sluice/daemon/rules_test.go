package daemon

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/config"
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
