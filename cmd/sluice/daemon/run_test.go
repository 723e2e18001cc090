package daemon

import (
	"io"
	"log/slog"
	"os"
	"syscall"
	"testing"
)

func TestSignalsThatComeTogetherAreOne(t *testing.T) { // wrappers signal the process and its group
	cfg := counting(t)
	signals := make(chan os.Signal, 2)
	signals <- syscall.SIGTERM
	signals <- syscall.SIGINT
	if code := Run(signals, Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Out: io.Discard, Err: io.Discard}); code != exitOK {
		t.Errorf("exit code %d, want %d: everything is drained", code, exitOK)
	}
}
