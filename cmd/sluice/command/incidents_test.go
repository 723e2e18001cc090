package command

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	oneIncidentJSON = `{"incident_id":"383cec03aede7b76","state":"open","trigger":"snapshot","first_seen":1772438400,"last_seen":1772439330,"max_level":"high","result_count":4,` +
		`"rule_counts":{"r1":1,"r2":3},"group_by":{"match.User":"alice","match.Port":443,"enrichment.host":null},"refs":[{"rule":"r1","level":"high"}],"sample_mode":"refs","bundle_ready":true}`
	graphIncidentJSON = `{"incident_id":"0f4f6c0e","state":"open","trigger":"snapshot","first_seen":0,"last_seen":50,"result_count":3,` +
		`"rule_counts":{"r+1":1,"r2":2},"entities":{"match.Ip":["10.0.0.1","10.0.0.2"],"match.User":["alice"]},"refs":[],"sample_mode":"none","bundle_ready":false}`
)

func TestIncidentsAreListed(t *testing.T) {
	inEmptyDir(t)
	addr := api(t, new(asked).answer)
	for format, want := range map[string]string{
		"": oneIncidentJSON + "\n",
		"csv": "LEVEL,ID,RESULTS,FIRST SEEN,LAST SEEN,REPORTED,OF,RULES\n" +
			`high,383cec03aede7b76,4,2026-03-02T08:00:00Z,2026-03-02T08:15:30Z,yes,match.User=alice match.Port=443 enrichment.host=null,"r1 (1), r2 (3)"` + "\n",
		"table": "LEVEL  ID                RESULTS  FIRST SEEN            LAST SEEN             REPORTED  OF                                                    RULES\n" +
			"-----  ----------------  -------  --------------------  --------------------  --------  ----------------------------------------------------  --------------\n" +
			"high   383cec03aede7b76        4  2026-03-02T08:00:00Z  2026-03-02T08:15:30Z  yes       match.User=alice match.Port=443 enrichment.host=null  r1 (1), r2 (3)\n",
	} {
		args := []string{"incidents", "list", "--addr", addr}
		if format != "" {
			args = append(args, "--output-format", format)
		}
		if got := sluice(t, "", args...); got.code != 0 || got.out != want || got.err != "" {
			t.Errorf("%s: got %q with %q, want %q", format, got.out, got.err, want)
		}
	}
}

func TestAnIncidentIsShown(t *testing.T) {
	inEmptyDir(t)
	addr := api(t, new(asked).answer)
	if got := sluice(t, "", "incidents", "show", "x", "--addr", addr); got.code != 0 || got.out != oneIncidentJSON+"\n" {
		t.Errorf("got %q with %q", got.out, got.err)
	}
	got := sluice(t, "", "incidents", "show", "graph", "--addr", addr, "--output-format", "tsv")
	want := "METRIC\tVALUE\nincident_id\t0f4f6c0e\nstate\topen\ntrigger\tsnapshot\nfirst_seen\t1970-01-01T00:00:00Z\nlast_seen\t1970-01-01T00:00:50Z\nresult_count\t3\n" +
		"rule_counts r+1\t1\nrule_counts r2\t2\nentities match.Ip\t10.0.0.1, 10.0.0.2\nentities match.User\talice\nsample_mode\tnone\nbundle_ready\tfalse\n"
	if got.code != 0 || got.out != want {
		t.Errorf("got %q with %q, want %q", got.out, got.err, want)
	}
}

func TestIncidentsAreExported(t *testing.T) {
	dir := inEmptyDir(t)
	const bundle = "# Incident\x1b[2J\n"
	for _, command := range []string{"incidents export", "engine incidents export"} {
		daemon := new(asked)
		addr := api(t, daemon.answer)
		run := func(args ...string) outcome {
			return sluice(t, "", append(append(strings.Fields(command), args...), "--addr", addr)...)
		}
		if got := run("x"); got.code != 0 || got.out != bundle || got.err != "" {
			t.Errorf("%s: got %q with %q", command, got.out, got.err)
		}
		if got := run("x", "--bundle-format", "markdown"); got.code != 0 || got.out != bundle {
			t.Errorf("%s: got %q with %q", command, got.out, got.err)
		}
		want := []string{"GET /api/v1/incidents/x/bundle?format=json", "GET /api/v1/incidents/x/bundle?format=markdown"}
		if strings.Join(daemon.requests, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: got %q, want %q", command, daemon.requests, want)
		}
		write(t, "kept.md", "before")
		got := run("none", "-o", "kept.md")
		got.wantCode(t, 3)
		got.wantErr(t, "/api/v1/incidents/none/bundle: 404 Not Found: not there (look elsewhere)")
		if text, _ := os.ReadFile("kept.md"); string(text) != "before" {
			t.Errorf("%s: a file of before is now %q", command, text)
		}
		if got := run("x", "-o", "kept.md"); got.code != 0 || got.out != "" || got.err != "wrote kept.md\n" {
			t.Errorf("%s: got %q with %q", command, got.out, got.err)
		}
		if text, _ := os.ReadFile("kept.md"); string(text) != bundle {
			t.Errorf("%s: got %q", command, text)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".kept*")); len(left) > 0 {
			t.Errorf("%s: %q are left", command, left)
		}
		for args, want := range map[string]string{
			"x -o none/file":         "--output: open none/",
			"x -o=":                  "--output: the path is empty",
			"x --bundle-format pdf":  `--bundle-format: "pdf" is not allowed (json, markdown)`,
			"":                       "name one incident by its id (sluice incidents list shows them)",
			"x y":                    "name one incident by its id",
			"x --addr unix:///none":  "is the daemon running?",
			"x/../../status -o kept": "404 Not Found",
		} {
			got := sluice(t, "", append(append(strings.Fields(command), "--addr", addr), strings.Fields(args)...)...)
			got.wantCode(t, 3)
			got.wantErr(t, want)
		}
	}
}

func TestIDsAreCompleted(t *testing.T) {
	inEmptyDir(t)
	addr := api(t, new(asked).answer)
	t.Setenv("SLUICE_ADDR", addr)
	for _, tc := range []struct {
		name  string
		words string // the last one may be empty
		want  string
	}{
		{"silences", "silence expire |", "a\tactive rule=\"x\", match.User=~\"adm.*\"\nb\tactive level=\"low\"\n"},
		{"another silence", "silence expire a |", "a\tactive rule=\"x\", match.User=~\"adm.*\"\nb\tactive level=\"low\"\n"},
		{"that begin with a text", "silence extend b|", "b\tactive level=\"low\"\n"},
		{"incidents", "incidents show |", "383cec03aede7b76\thigh match.User=alice match.Port=443 enrichment.host=null\n"},
		{"to export", "engine incidents export 38|", "383cec03aede7b76\thigh match.User=alice match.Port=443 enrichment.host=null\n"},
		{"none that begins so", "incidents show 4|", ""},
		{"the value of a flag", "silence add --incident 3|", "383cec03aede7b76\thigh match.User=alice match.Port=443 enrichment.host=null\n"},
		{"behind an equals sign", "silence add --incident=3|", "--incident=383cec03aede7b76\thigh match.User=alice match.Port=443 enrichment.host=null\n"},
		{"of the daemon that the words name", "incidents show --addr unix:///none |", ""},
		{"no daemon that can be asked", "incidents show --addr nowhere |", ""},
	} {
		words := strings.Split(strings.TrimSuffix(tc.words, "|"), " ")
		got := sluiceWith(t, Program{Patience: time.Minute}, "", append([]string{"completion", "words", "--"}, words...)...)
		if got.code != 0 || got.out != tc.want || got.err != "" {
			t.Errorf("%s: got %q with %q, want %q", tc.name, got.out, got.err, tc.want)
		}
	}
}

// What somebody else chose does not steer a terminal, on which lists are tables.
func TestListsOnATerminal(t *testing.T) {
	inEmptyDir(t)
	addr := api(t, new(asked).answer)
	for _, tc := range []struct{ line, want string }{
		{"silence list", "STATE   ID  STARTS"},
		{"incidents list", "LEVEL  ID"},
		{"incidents show x", "METRIC"},
		{"incidents export x --bundle-format markdown", "# Incident"},
		{"silence expire a", `"status": "deleted"`},
	} {
		line, want := tc.line, tc.want
		code, shown := onTerminal(t, Program{}, 80, append(strings.Fields(line), "--addr", addr)...)
		if code != 0 || !strings.Contains(shown, want) || strings.Contains(shown, "\x1b[2J") {
			t.Errorf("%s: exit code %d, got %q, want %q in it", line, code, shown, want)
		}
	}
}

// Records for programs are what somebody wrote, but for those that go to a terminal.
func TestRecordsOfListsAreCleanOnATerminal(t *testing.T) {
	inEmptyDir(t)
	addr := api(t, func(w http.ResponseWriter, r *http.Request) {
		text := `{"count":1,"incidents":[` + oneIncidentJSON + `]}`
		if r.URL.Path == silencesPath {
			text = twoSilences
		}
		_, _ = io.WriteString(w, strings.NewReplacer(`"alice"`, `"al\u001b[2J\u202eice"`, `"pentest"`, `"pen\u001b[2J\u202etest"`).Replace(text))
	})
	for _, tc := range []struct{ list, raw, clean string }{
		{"silence list", "pen\x1b[2J\u202etest", "pen [2J test"},
		{"incidents list", "al\x1b[2J\u202eice", "al [2J ice"},
	} {
		for _, format := range []string{"csv", "tsv"} {
			line := append(strings.Fields(tc.list), "--output-format", format, "--addr", addr)
			if got := sluice(t, "", line...); got.code != 0 || !strings.Contains(got.out, tc.raw) {
				t.Errorf("%s in %s: exit code %d, got %q, want %q in it", tc.list, format, got.code, got.out, tc.raw)
			}
			code, shown := onTerminal(t, Program{}, 80, line...)
			if code != 0 || !strings.Contains(shown, tc.clean) || strings.ContainsAny(shown, "\x1b\u202e") {
				t.Errorf("%s in %s on a terminal: exit code %d, got %q, want %q in it", tc.list, format, code, shown, tc.clean)
			}
		}
	}
}
