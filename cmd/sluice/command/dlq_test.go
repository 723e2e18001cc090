package command

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/terminal"
)

// deadLetters is a file with a letter of each kind and a damaged line.
const deadLetters = `{"original_event":"this is no JSON\u001b[2J","error":"parse error","timestamp":"2026-03-01T10:00:00.000001Z","stage":"parse"}
{"original_event":"[{\"rule_title\":\"Failed Login\",\"level\":\"low\"},{\"rule_title\":\"Guessing\",\"correlation_type\":\"event_count\"}]","error":"sink delivery failure: I/O error: write /var/log/found: no space left on device","timestamp":"2026-03-01T11:00:00.5Z","stage":"delivery","sink":"file","attempts":4}
damaged
{"original_event":"{\"C\":\"evil\",\"note\":\"öffne 漢字\"}","error":"panic: index out of range","timestamp":"2026-03-01T12:00:00Z","stage":"evaluate"}
`

func TestDeadLettersAreListed(t *testing.T) {
	for _, tc := range []struct {
		golden string
		args   []string
		code   int
	}{
		{"ndjson", nil, 1},
		{"table", []string{"--output-format", "table"}, 1},
		{"csv", []string{"--output-format", "csv", "--stage", "delivery"}, 1},
		{"filtered", []string{"--sink", "file", "--error", "NO SPACE", "--since", "2026-03-01T11:00:00Z", "--until", "2026-03-01T11:30:00Z"}, 1},
		{"nothing", []string{"--since", "2h", "--output-format", "table", "--no-stats"}, 1},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			inEmptyDir(t)
			write(t, "dead", deadLetters)
			got := sluice(t, "", append([]string{"dlq", "list", "dead"}, tc.args...)...)
			got.wantCode(t, tc.code)
			wantGolden(t, "dlq-list-"+tc.golden, got.out+"--- stderr\n"+got.err)
			piped := sluice(t, deadLetters, append([]string{"dlq", "list", "-"}, tc.args...)...)
			if want := strings.ReplaceAll(got.out, `"file":"dead"`, `"file":"-"`); piped.out != want {
				t.Errorf("from stdin it lists\n%s\nwant\n%s", piped.out, want)
			}
		})
	}
}

func TestDeadLettersOnATerminal(t *testing.T) {
	for golden, tc := range map[string]struct {
		columns int
		args    []string
	}{
		"wide":        {120, []string{"list", "dead"}},
		"narrow":      {80, []string{"list", "dead"}},
		"json":        {80, []string{"list", "dead", "--json"}},
		"show-line":   {80, []string{"show", "1", "dead"}},
		"show-result": {80, []string{"show", "2", "dead"}},
		"show-event":  {80, []string{"show", "4", "dead"}},
		"show-json":   {80, []string{"show", "4", "dead", "--output-format", "json"}},
	} {
		t.Run(golden, func(t *testing.T) {
			inEmptyDir(t)
			write(t, "dead", deadLetters)
			_, shown := onTerminal(t, Program{}, tc.columns, append([]string{"dlq"}, tc.args...)...)
			wantGolden(t, "dlq-terminal-"+golden, shown)
			for line := range strings.Lines(shown) {
				if n := terminal.Places(strings.TrimSuffix(line, "\n")); n > tc.columns && (golden == "wide" || golden == "narrow") && !strings.HasPrefix(line, "warning") {
					t.Errorf("a row has %d columns: %s", n, line)
				}
			}
		})
	}
}

func TestFaultsOfDeadLetterCommandsSayWhatToDo(t *testing.T) {
	inEmptyDir(t)
	write(t, "dead", deadLetters)
	write(t, "d/dead", "")
	for line, want := range map[string]string{
		"list":                                 "no file of dead letters is named (- for standard input)",
		"list none":                            "open none: no such file or directory",
		"list d":                               "d is a directory; name the files in it",
		"list dead --stage deliver":            "--stage: \"deliver\" is no stage (ingest, parse, observe, evaluate, correlate, enrich, risk, alert, dispatch, delivery) (did you mean 'delivery'?)",
		"list dead --since yesterday":          "--since: \"yesterday\" is neither a time (2026-03-01T10:00:00Z) nor a span before now (such as 2h or 30m)",
		"list dead --json --output-format csv": "--json excludes --output-format csv",
		"show dead":                            `"dead" is no number of a dead letter (dlq show NUMBER FILE; dlq list shows the numbers)`,
		"show 3 dead":                          "dead:3: no dead letter: not JSON at byte 1: invalid character 'd' looking for beginning of value",
		"show 9 dead":                          "there is no dead letter 9: the last one is 4",
		"replay":                               "dlq replay takes one file of dead letters (- for standard input), got 0",
		"replay dead dead":                     "dlq replay takes one file of dead letters (- for standard input), got 2",
		"replay none":                          "open none: no such file or directory",
		"replay dead --rate fast":              `--rate: "fast" is no number of dead letters a second (such as 100 or 0.5)`,
		"replay dead --rate 0":                 `--rate: "0" is no number`,
		"replay dead --patience never":         `--patience: "never" is no duration (such as 5m)`,
		"replay dead --to somewhere":           "--to: Unsupported output sink 'somewhere' (supported: ",
		"replay dead --to stdout?format=ocsf":  "--to: sink 'stdout?format=ocsf': format= is only supported on findings sinks",
		"replay dead --to file://none/x":       "--to: open sink file: open none/x: no such file or directory",
		"replay dead --to file://dead":         "sink 'file://dead' is the file that is replayed",
		"replay dead --state dead":             "--state: dead is the file that is replayed",
		"replay dead --addr 127.0.0.1:1":       "POST http://127.0.0.1:1/api/v1/events: dial tcp 127.0.0.1:1: connect: connection refused (is the daemon running? --addr says where)",
	} {
		got := sluice(t, "", append([]string{"dlq"}, strings.Fields(line)...)...)
		got.wantCode(t, 3)
		got.wantErr(t, want)
		if got.out != "" {
			t.Errorf("%s: stdout got %q", line, got.out)
		}
	}
}

func TestDeadLettersAreReplayed(t *testing.T) {
	inEmptyDir(t)
	write(t, "dead", deadLetters)
	t.Setenv("SLUICE_API_TOKEN", "secret")
	var bodies []string
	addr := api(t, func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		bodies = append(bodies, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization")+" "+string(body))
		_, _ = w.Write([]byte(`{"accepted":2}`))
	})
	steps := []struct{ name, args string }{
		{"dry", "--dry-run --to file://out --addr " + addr},
		{"sink", "--to file://out"},
		{"daemon", "--addr " + addr},
		{"again", "--to file://out --addr " + addr},
		{"restart", "--restart --to stdout --state other"},
	}
	var all strings.Builder
	for _, step := range steps {
		got := sluice(t, "", append([]string{"dlq", "replay", "dead"}, strings.Fields(step.args)...)...)
		all.WriteString(strings.ReplaceAll("=== "+step.name+"\n"+got.out+"--- stderr\n"+got.err, addr, "ADDR"))
		if want := map[string]int{"again": 0}; step.name == "again" && got.code != want[step.name] || step.name != "again" && got.code != 1 {
			t.Errorf("%s: exit code %d", step.name, got.code)
		}
	}
	wantGolden(t, "dlq-replay", all.String())
	if out, err := os.ReadFile("out"); err != nil || string(out) != `{"rule_title":"Failed Login","level":"low"}`+"\n"+`{"rule_title":"Guessing","correlation_type":"event_count"}`+"\n" {
		t.Errorf("the sink got %s and %v", out, err)
	}
	want := []string{"POST /api/v1/events?commit=true Bearer secret this is no JSON\x1b[2J\n" + `{"C":"evil","note":"öffne 漢字"}` + "\n"}
	if len(bodies) != 1 || bodies[0] != want[0] {
		t.Errorf("the daemon got %q, want %q", bodies, want)
	}
}

func TestFlagsOfDeadLettersAreCompleted(t *testing.T) {
	inEmptyDir(t)
	for line, want := range map[string]string{
		"dlq ":                     "list\tlist the dead letters of files\nshow\tprint one dead letter with all it holds\nreplay\tsend dead letters on their way again\n",
		"dlq list --stage d":       "dispatch\t\ndelivery\t\n",
		"dlq replay dead --to std": "stdout\t\n",
		"dlq replay dead --to f":   "file://\t\n",
		"dlq list ":                ":files\n",
	} {
		got := sluice(t, "", append([]string{"completion", "words", "--"}, strings.Split(line, " ")...)...)
		if got.out != want {
			t.Errorf("%q: got %q, want %q", line, got.out, want)
		}
	}
}
