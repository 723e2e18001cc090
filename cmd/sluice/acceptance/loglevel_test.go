package acceptance

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// levels counts the records of the log by level.
func (d *daemon) levels() map[string]int {
	n := make(map[string]int)
	for _, line := range d.stderr.lines() {
		var r struct{ Level string }
		if json.Unmarshal([]byte(line), &r) == nil {
			n[r.Level]++
		}
	}
	return n
}

func TestTheLogLevelChangesWhileTheDaemonRuns(t *testing.T) {
	rules := write(t, t.TempDir(), "a.yml", rule("A", "evil"))
	d := start(t, "-r", rules, "--input", "http")
	const path = "/api/v1/log-level"
	want := func(what string, a answer, status int, body string) {
		t.Helper()
		if a.status != status || !strings.Contains(a.body, body) {
			t.Errorf("%s: got %d %s, want %d %s", what, a.status, a.body, status, body)
		}
	}
	want("at the start", d.get(path), 200, `{"level":"info","origin":"default"}`)
	if n := d.levels()["DEBUG"]; n != 0 {
		t.Errorf("%d records of debugging before anybody asked", n)
	}
	want("a level that nobody knows", d.do("PUT", path, `{"level":"loud"}`), 400, "unknown level")
	want("a change", d.do("PUT", path, `{"level":"debug"}`), 200, `{"level":"debug","origin":"api"}`)
	d.awaitLog("log level changed")
	d.get("/healthz")
	d.await("a record of debugging", func() bool { return d.levels()["DEBUG"] > 0 })
	cli := sluice(t, "", "engine", "log-level", "warn,sluice.http=error", "--addr", d.addr)
	if cli.code != 0 || !strings.Contains(cli.stdout, `{"level":"warn,sluice.http=error","origin":"api"}`) {
		t.Errorf("the command: %+v", cli)
	}
	begin := time.Now().Truncate(time.Second)
	a := d.do("PUT", path, `{"level":"trace","for":"1s"}`)
	want("for a while", a, 200, `{"level":"trace","origin":"api","until":"`)
	until, err := time.Parse(time.RFC3339, a.json(t)["until"].(string))
	if err != nil || until.Before(begin.Add(time.Second)) || a.json(t)["then"] != "warn,sluice.http=error" {
		t.Errorf("got %s, want a second from %s on", a.body, begin)
	}
	d.await("the level before", func() bool {
		return strings.Contains(d.get(path).body, `{"level":"warn,sluice.http=error","origin":"api"}`)
	})
	d.stop()
}

func TestTheLogLevelSaysWhereItComesFrom(t *testing.T) {
	rules := write(t, t.TempDir(), "a.yml", rule("A", "evil"))
	for _, tc := range []struct {
		name string
		env  string
		args []string
		want string
	}{
		{"the variable", "SLUICE_LOG=sluice.sink=debug", nil, `{"level":"info,sluice.sink=debug","origin":"SLUICE_LOG"}`},
		{"the flag wins", "SLUICE_LOG=debug", []string{"--log-level", "info"}, `{"level":"info","origin":"--log-level"}`},
		{"a variable that cannot be read", "SLUICE_LOG=loud", nil, `{"level":"info","origin":"default"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := command(t, append([]string{"engine", "daemon", "-r", rules, "--input", "http", "--api-addr", "127.0.0.1:0"}, tc.args...)...)
			cmd.Env = append(cmd.Env, tc.env)
			d := launchCommand(t, t.TempDir(), cmd)
			d.awaitLog("API server listening")
			if got := strings.TrimSpace(d.get("/api/v1/log-level").body); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			d.stop()
		})
	}
}
