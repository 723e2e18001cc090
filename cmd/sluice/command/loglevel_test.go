package command

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestTheLogLevelOfADaemon(t *testing.T) {
	const (
		stays  = `{"level":"info","origin":"default"}`
		passes = `{"level":"debug","origin":"api","until":"2026-03-10T12:00:05Z","then":"info"}`
	)
	for _, tc := range []struct {
		name        string
		args        []string
		answer      string
		code        int
		out, err    string // err is a part
		method      string // of the request; empty for none
		contentType string
		body        string
	}{
		{"shown", nil, stays, 0, stays + "\n", "", "GET", "", ""},
		{"changed", []string{"debug"}, passes, 0, passes + "\n", "", "PUT", "application/json", `{"level":"debug"}`},
		{"for a while", []string{"debug", "--for", "10m"}, passes, 0, passes + "\n", "", "PUT", "application/json", `{"level":"debug","for":"10m"}`},
		{"the flag may go first", []string{"--for", "10m", "info,sluice.sink=debug"}, passes, 0, passes + "\n", "", "PUT", "application/json", `{"level":"info,sluice.sink=debug","for":"10m"}`},
		{"as records", []string{"--output-format", "csv"}, passes, 0, "LOG,VALUE\nlevel,debug\norigin,api\nuntil,2026-03-10T12:00:05Z\nthen,info\n", "", "GET", "", ""},
		{"refused", []string{"loud"}, `{"error":"unknown level"}`, 3, "", "400 Bad Request: unknown level", "PUT", "application/json", `{"level":"loud"}`},
		{"an answer of something else", nil, `{"status":"running"}`, 3, "", "unreadable answer", "GET", "", ""},
		{"no level for a while", []string{"--for", "10m"}, "", 3, "", "--for: a level is missing, such as engine log-level debug --for 10m", "", "", ""},
		{"a flag for the level", []string{"--level", "debug"}, "", 3, "", "unknown flag --level: the level is an argument, as in engine log-level debug (see ", "", "", ""},
		{"a mistyped flag for it", []string{"--leve", "debug"}, "", 3, "", "unknown flag --leve: the level is an argument, as in engine log-level debug (see ", "", "", ""},
		{"a level as a flag", []string{"--trace"}, "", 3, "", "unknown flag --trace: the level is an argument, as in engine log-level trace (see ", "", "", ""},
		{"another unknown flag", []string{"--adr", "x"}, "", 3, "", "unknown flag --adr, did you mean --addr?", "", "", ""},
		{"the level of the client's log", []string{"--log-level", "debug"}, stays, 0, stays + "\n", "hint: --log-level is about the log of this command; engine log-level debug changes what the daemon logs\n", "GET", "", ""},
		{"that, and a level", []string{"--log-level", "debug", "warn"}, stays, 0, stays + "\n", "", "PUT", "application/json", `{"level":"warn"}`},
		{"two levels", []string{"info", "sluice.sink=debug"}, "", 3, "", `takes one level, got "sluice.sink=debug" as well`, "", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			asked := ""
			addr := api(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked = fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.Header.Get("Content-Type"), " ", string(body))
				if strings.Contains(tc.answer, "error") {
					w.WriteHeader(400)
				}
				_, _ = w.Write([]byte(tc.answer))
			})
			got := sluice(t, "", append([]string{"engine", "log-level", "--addr", addr}, tc.args...)...)
			got.wantCode(t, tc.code)
			if got.out != tc.out || !strings.Contains(got.err, tc.err) {
				t.Errorf("got %q, error %q\nwant %q, error with %q", got.out, got.err, tc.out, tc.err)
			}
			want := ""
			if tc.method != "" {
				want = fmt.Sprint(tc.method, " /api/v1/log-level ", tc.contentType, " ", tc.body)
			}
			if asked != want {
				t.Errorf("asked %q, want %q", asked, want)
			}
		})
	}
}

func TestTheLogLevelOnATerminal(t *testing.T) {
	inEmptyDir(t)
	t.Setenv("TERM", "xterm")
	code, shown := onTerminal(t, Program{}, 80, "engine", "log-level", "--addr", api(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"level":"info,sluice.sink=debug","origin":"api","until":"2026-03-10T12:00:05Z","then":"warn"}`))
	}))
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	wantGolden(t, "log-level-terminal", shown)
}
