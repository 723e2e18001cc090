package acceptance

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A log that nobody reads fills its pipe. Nothing waits for it: requests are
// answered, signals are obeyed, results arrive.
func TestALogThatNobodyReadsHoldsNothingUp(t *testing.T) {
	for _, tc := range []struct {
		name   string
		signal syscall.Signal
		twice  bool // the second one ends the process at once
		code   int
	}{
		{"SIGTERM drains", syscall.SIGTERM, false, 0},
		{"SIGINT drains", syscall.SIGINT, false, 0},
		{"a second SIGTERM ends it", syscall.SIGTERM, true, 143},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "rules/a.yml", rule("A", "evil"))
			out, addr := filepath.Join(dir, "out.ndjson"), filepath.Join(dir, "s.sock")
			sinks := []string{"--output", "file://" + out}
			if tc.twice {
				sinks = append(sinks, "--output", "file://"+unread(t, dir), "--drain-timeout", "60", "--sink-retry-max", "1000000")
			}
			cmd := command(t, append([]string{
				"engine", "daemon", "-r", filepath.Join(dir, "rules"), "--input", "http",
				"--api-addr", "unix://" + addr, "--log-level", "debug",
			}, sinks...)...)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close() // and never read from
			cmd.Stderr = w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			ended := make(chan struct{})
			go func() { defer close(ended); _ = cmd.Wait() }()
			defer func() { _ = cmd.Process.Kill(); <-ended }()
			client := unixClient(addr)
			deadline := time.Now().Add(patience)
			for ready := false; !ready; time.Sleep(5 * time.Millisecond) {
				if a, err := client.Get("http://s/readyz"); err == nil {
					a.Body.Close()
					ready = a.StatusCode == http.StatusOK
				}
				if time.Now().After(deadline) {
					t.Fatal("it did not get ready")
				}
			}
			const requests = 1500 // of which each logs more than 100 bytes
			for range requests {
				a, err := client.Post("http://s/api/v1/events", "", strings.NewReader(event("evil")))
				if err != nil || a.StatusCode != http.StatusOK {
					t.Fatalf("push: %v, %v", a, err)
				}
				a.Body.Close()
			}
			for alive, again := true, true; alive; again = tc.twice {
				if again {
					_ = cmd.Process.Signal(tc.signal)
				}
				select {
				case <-ended:
					alive = false
				case <-time.After(50 * time.Millisecond): // beyond an echo of the first signal
				}
				if time.Now().After(deadline) {
					t.Fatalf("it is deaf to %s", tc.signal)
				}
			}
			if code := cmd.ProcessState.ExitCode(); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			raw, _ := os.ReadFile(out)
			if got := strings.Count(string(raw), "\n"); got != requests && !tc.twice {
				t.Errorf("%d results, want %d", got, requests)
			}
		})
	}
}

// unixClient is a client of the socket.
func unixClient(path string) *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
}
