package command

import (
	"os"
	"syscall"
	"testing"
)

// A daemon that has not read its files yet is not ended by the wish that it reads
// them again; other commands end at every signal.
func TestSignalsBeforeTheDaemonTakesThem(t *testing.T) {
	for _, tc := range []struct {
		name   string
		args   []string
		signal syscall.Signal
		code   int
	}{
		{"the daemon, asked to reload", []string{"sluice", "engine", "daemon"}, syscall.SIGHUP, 0},
		{"by its short name", []string{"sluice", "daemon", "-r", "x"}, syscall.SIGHUP, 0},
		{"the daemon, asked to end", []string{"sluice", "engine", "daemon"}, syscall.SIGTERM, 143},
		{"another command whose terminal is gone", []string{"sluice", "engine", "eval"}, syscall.SIGHUP, 129},
		{"another command with an argument of that name", []string{"sluice", "engine", "eval", "--rules", "daemon"}, syscall.SIGHUP, 129},
	} {
		t.Run(tc.name, func(t *testing.T) {
			signals, release := make(chan os.Signal), make(chan struct{})
			e := &env{signals: signals, handedOver: make(chan struct{})}
			go func() {
				signals <- tc.signal
				close(release)
			}()
			code, _ := codeOf(e.supervise(isDaemon(e.app(), tc.args), func() error { <-release; return nil }))
			if tc.code == 0 && code != 0 || tc.code != 0 && code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
		})
	}
}
