package daemon

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/config"
)

func TestSignalsThatComeTogetherAreOne(t *testing.T) { // wrappers signal the process and its group
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rules.yml"), []byte(countingRules), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := &config.Loaded{Config: config.Default()}
	c := &cfg.Config.Daemon
	c.Rules, c.Input.Source, c.API.Addr = []string{filepath.Join(dir, "rules.yml")}, "http", "127.0.0.1:0"
	signals := make(chan os.Signal, 2)
	signals <- syscall.SIGTERM
	signals <- syscall.SIGINT
	if code := Run(signals, Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Out: io.Discard, Err: io.Discard}); code != exitOK {
		t.Errorf("exit code %d, want %d: everything is drained", code, exitOK)
	}
}
