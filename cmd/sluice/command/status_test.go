package command

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/terminaltest"
)

// onTerminal runs the program with a terminal of so many columns as both of its
// outputs.
func onTerminal(t *testing.T, p Program, columns int, args ...string) (code int, shown string) {
	t.Helper()
	tty, written := terminaltest.Open(t, columns)
	code = p.Run(nil, append([]string{"sluice"}, args...), strings.NewReader(""), tty, tty)
	return code, written()
}

const runningStatus = `{"status":"running","detection_rules":12,"correlation_rules":1,"correlation_state_entries":0,"events_processed":1234567,"detection_matches":7,"correlation_matches":0,"parse_errors":0,"uptime_seconds":312.4,`

const (
	goodReload   = `"reload_pending":false,"last_reload":{"ok":true,"at":"2026-03-10T12:00:05Z","trigger":"file"}}`
	failedReload = `"reload_pending":false,"last_reload":{"ok":false,"at":"2026-03-10T12:00:05Z","trigger":"api",` +
		`"error":"rules: 2 rule documents are newly rejected, the first is rules/b.yml: document 1: line 4: Unknown modifier 'contans'\u001b[2J"}}`
)

// running is a daemon with one rejected document, a full queue and a broken sink.
func running(status string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(map[string]string{
			"/api/v1/status": status,
			"/api/v1/rules":  `{"detection_rules":12,"rejected":[{"file":"a.yml"}],"excluded":3}`,
			"/api/v1/actors": `{"count":4,"actors":[{"name":"parse","kind":"stage","state":"running","mailbox":{"capacity":10000,"depth":9999}},
				{"name":"evaluate","kind":"stage","state":"running","mailbox":{"capacity":10,"depth":1}},
				{"name":"sink:stdout","kind":"sink","state":"running","mailbox":{"capacity":10000,"depth":0}},
				{"name":"sink:file","kind":"sink","state":"restarting","mailbox":{"capacity":10000,"depth":4}}]}`,
		}[r.URL.Path]))
	}
}

func TestStatusOnATerminal(t *testing.T) {
	for _, tc := range []struct {
		golden, status string
		columns        int
		args           []string
		env            string // of NO_COLOR
	}{
		{"before-a-reload", runningStatus + `"reload_pending":false}`, 80, nil, ""},
		{"unreadable-lines", strings.Replace(runningStatus, `"parse_errors":0`, `"parse_errors":48`, 1) + `"reload_pending":false}`, 80, nil, ""},
		{"inputs", runningStatus + `"inputs":[{"input":"kafka://b1:9092/events","connected":true,"since":"2026-03-10T12:00:05Z","last_error":"mended"},` +
			`{"input":"kafka://b2/x","connected":false,"since":"2026-03-10T12:01:05Z","last_error":"dial tcp: refused\u001b[2J"}]}`, 80, nil, ""},
		{"pending", runningStatus + `"reload_pending":true}`, 80, nil, ""},
		{"reloaded", runningStatus + goodReload, 80, nil, ""},
		{"failed", runningStatus + failedReload, 80, nil, ""},
		{"failed-narrow", runningStatus + failedReload, 50, nil, ""},
		{"failed-without-color", runningStatus + failedReload, 80, []string{"--color", "never"}, ""},
		{"failed-no-color", runningStatus + failedReload, 80, nil, "1"},
		{"failed-color-always", runningStatus + failedReload, 80, []string{"--color", "always"}, "1"},
		{"explicit-table", runningStatus + failedReload, 80, []string{"--output-format", "table"}, ""},
		{"explicit-json", runningStatus + failedReload, 80, []string{"--output-format", "json"}, ""},
		{"explicit-csv", runningStatus + failedReload, 80, []string{"--output-format", "csv"}, ""},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			inEmptyDir(t)
			t.Setenv("TERM", "xterm")
			t.Setenv("NO_COLOR", tc.env)
			addr := api(t, running(tc.status))
			code, shown := onTerminal(t, Program{}, tc.columns, append([]string{"engine", "status", "--addr", addr}, tc.args...)...)
			if code != 0 {
				t.Errorf("exit code %d", code)
			}
			wantGolden(t, "status-terminal-"+tc.golden, shown)
		})
	}
}

func TestStatusThatIsPipedHasWhatTheDaemonSaid(t *testing.T) {
	inEmptyDir(t)
	asked := ""
	answer := running(runningStatus + failedReload)
	addr := api(t, func(w http.ResponseWriter, r *http.Request) {
		asked += r.URL.Path
		answer(w, r)
	})
	got := sluice(t, "", "engine", "status", "--addr", addr)
	got.wantCode(t, 0)
	if want := runningStatus + failedReload + "\n"; got.out != want || got.err != "" {
		t.Errorf("got %q and %q, want %q alone", got.out, got.err, want)
	}
	table := sluice(t, "", "engine", "status", "--addr", addr, "--output-format", "table")
	wantGolden(t, "status-table-failed", table.out)
	if asked != "/api/v1/status/api/v1/status" {
		t.Errorf("asked for %s, want the status alone", asked)
	}
}

func TestStatusOnATerminalNeedsOnlyItsOwnPermission(t *testing.T) {
	inEmptyDir(t)
	addr := api(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/status" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"error":"forbidden"}`))
			return
		}
		_, _ = w.Write([]byte(runningStatus + goodReload))
	})
	t.Setenv("SLUICE_API_TOKEN", "of-status")
	code, shown := onTerminal(t, Program{}, 80, "engine", "status", "--addr", addr)
	if code != 0 || !strings.Contains(shown, "not shown: GET http://"+addr+"/api/v1/actors: 403 Forbidden: forbidden (the token in SLUICE_API_TOKEN may not do this: set it to one that may, or name another variable with --auth-token-env)\n") ||
		!strings.HasSuffix(shown, "last_reload                ok 2026-03-10T12:00:05Z\n") {
		t.Errorf("exit code %d, shown\n%s", code, shown)
	}
}

func TestFieldsOnATerminalAreATable(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", "title: A\nlogsource: {product: windows}\ndetection: {sel: {Image|endswith: a.exe, User: x}, condition: sel}\n")
	write(t, "r/b.yml", "title: B\nlogsource: {product: windows}\ndetection: {sel: {Image|endswith: b.exe}, condition: sel}\n")
	for golden, args := range map[string][]string{
		"fields-terminal": nil, "fields-terminal-ndjson": {"--output-format", "ndjson"}, "fields-terminal-json": {"--output-format", "json"},
	} {
		code, shown := onTerminal(t, Program{}, 80, append([]string{"rule", "fields", "-r", "r"}, args...)...)
		if code != 0 {
			t.Errorf("%s: exit code %d", golden, code)
		}
		wantGolden(t, golden, shown)
	}
	if got := sluice(t, "", "rule", "fields", "-r", "r"); !strings.HasPrefix(got.out, `{"field":"Image","rules":2}`+"\n") {
		t.Errorf("piped it is %q, want a line of JSON for each field", got.out)
	}
}
