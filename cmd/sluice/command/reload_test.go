package command

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	pendingStatus = `{"reload_pending":true,"last_reload":{"ok":true,"at":"2026-03-10T12:00:00Z","trigger":"file"}}`
	endedWell     = `{"reload_pending":false,"last_reload":{"ok":true,"at":"2026-03-10T12:00:05Z","trigger":"api"}}`
	endedBadly    = `{"reload_pending":false,"last_reload":{"ok":false,"at":"2026-03-10T12:00:05Z","trigger":"api","error":"rules: b.yml: no title"}}`
)

func TestReloadWaitsForTheOutcome(t *testing.T) {
	for _, tc := range []struct {
		name   string
		args   []string
		status string
		code   int
		want   string // the last line on stderr
	}{
		{"without --wait it does not ask", nil, "", 0, "reload requested: URL/api/v1/reload"},
		{"a good reload", []string{"--wait"}, endedWell, 0, "reloaded"},
		{"a failed one", []string{"--wait"}, endedBadly, 1, "sluice: rules: b.yml: no title"},
		{"a failed one, with a time", []string{"--wait=2m"}, endedBadly, 1, "sluice: rules: b.yml: no title"},
		{
			"an error that would steer the terminal",
			[]string{"--wait"},
			`{"reload_pending":false,"last_reload":{"ok":false,"at":"2026-03-10T12:00:05Z","error":"rules: \u001b[2J"}}`, 1, "sluice: rules:  [2J",
		},
		{
			"a daemon that tells nothing of reloads",
			[]string{"--wait"},
			`{"status":"running"}`, 3,
			"sluice: GET URL/api/v1/status: 200 OK: unreadable answer: it says nothing of reloads; is the daemon older than this command?",
		},
		{
			"a daemon that was restarted",
			[]string{"--wait"},
			`{"reload_pending":false}`, 3,
			"sluice: GET URL/api/v1/status: 200 OK: unreadable answer: no reload is pending, and none has ended; was the daemon restarted?",
		},
		{"a status that is not allowed", []string{"--wait"}, "403", 3, "sluice: GET URL/api/v1/status: 403 Forbidden: forbidden (needs status:read)"},
		{"time without a unit", []string{"--wait=5"}, endedWell, 3, `sluice: --wait: "5" is no duration to wait (such as --wait=30s or --wait=2m)`},
		{"no time at all", []string{"--wait=0s"}, endedWell, 3, `sluice: --wait: "0s" is no duration to wait (such as --wait=30s or --wait=2m)`},
		{"no text behind the equals sign", []string{"--wait="}, endedWell, 3, `sluice: --wait: "" is no duration to wait (such as --wait=30s or --wait=2m)`},
		{
			"a time that stands apart",
			[]string{"--wait", "5s"},
			endedWell, 3,
			`sluice: config reload takes no argument, got "5s" (how long to wait stands behind "=": --wait=30s)`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			addr := api(t, func(w http.ResponseWriter, r *http.Request) {
				switch r.Method + r.URL.Path {
				case "POST/api/v1/reload":
					_, _ = w.Write([]byte(`{"status":"reload_triggered"}`))
				case "GET/api/v1/status":
					if tc.status == "403" {
						w.WriteHeader(http.StatusForbidden)
						_, _ = w.Write([]byte(`{"error":"forbidden","hint":"needs status:read"}`))
						return
					}
					_, _ = w.Write([]byte(tc.status))
				}
			})
			got := sluice(t, "", append([]string{"config", "reload", "--addr", addr}, tc.args...)...)
			got.wantCode(t, tc.code)
			lines := strings.Split(strings.TrimSuffix(got.err, "\n"), "\n")
			if last, want := lines[len(lines)-1], strings.ReplaceAll(tc.want, "URL", "http://"+addr); last != want || got.out != "" {
				t.Errorf("got %q, stdout %q, want %q and nothing", last, got.out, want)
			}
		})
	}
}

func TestWaitingEndsWithTheReloadOrTheTime(t *testing.T) {
	refused := configFaultf("connection refused")
	for _, tc := range []struct {
		name     string
		ends     time.Duration // the reload
		last     string
		err      error         // of asking, once it has ended
		slow     time.Duration // each answer
		patience time.Duration
		takes    time.Duration
		want     string // error, "" for an outcome
	}{
		{"at once", 0, endedWell, nil, 0, time.Second, 0, ""},
		{"at the next look", time.Millisecond, endedWell, nil, 0, time.Second, 200 * time.Millisecond, ""},
		{"a failed one", 900 * time.Millisecond, endedBadly, nil, 0, 30 * time.Second, time.Second, ""},
		{"beyond the time", time.Hour, endedWell, nil, 0, time.Second, time.Second, "no outcome after 1s (the reload may still end: sluice engine status shows it)"},
		{"beyond a longer time", time.Hour, endedWell, nil, 0, 2 * time.Minute, 2 * time.Minute, "no outcome after 2m (the reload may still end: sluice engine status shows it)"},
		{"an answer that takes too long", 0, endedWell, nil, time.Hour, time.Second, time.Second, "no outcome after 1s (the reload may still end: sluice engine status shows it)"},
		{"the daemon goes away", time.Second, "", refused, 0, time.Minute, time.Second, "connection refused"},
		{"no JSON", 0, "x", nil, 0, time.Second, 0, "invalid character 'x' looking for beginning of value"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				got, err := awaitReload(t.Context(), tc.patience, func(ctx context.Context) ([]byte, error) {
					select {
					case <-time.After(tc.slow):
					case <-ctx.Done():
						return nil, ctx.Err()
					}
					if time.Since(begun) < tc.ends {
						return []byte(pendingStatus), nil
					}
					return []byte(tc.last), tc.err
				})
				if took := time.Since(begun); took != tc.takes {
					t.Errorf("it took %s, want %s", took, tc.takes)
				}
				if tc.want == "" {
					if err != nil || got.OK != (tc.last == endedWell) {
						t.Errorf("got %+v, %v, want the outcome in %s", got, err, tc.last)
					}
					return
				}
				code, text := codeOf(err)
				if text != tc.want || code != 3 {
					t.Errorf("got %q with code %d, want %q with 3", text, code, tc.want)
				}
				if errors.Is(err, context.DeadlineExceeded) {
					t.Error("the message is that of a context")
				}
			})
		})
	}
}
