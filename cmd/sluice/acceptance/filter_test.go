package acceptance

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// filterRules has one rule for the value 2 of the field a.
func filterRules(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "a.yml", "title: A\ndetection: {fields: {a: [2, x, y]}, condition: fields}\n")
	return dir
}

func TestTheEventFilterOfTheDaemon(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		line string
		figures
		results []string // the members event of results
	}{
		{"jq", []string{"--jq", ".records[]"}, `{"records":[{"a":1},{"a":2}]}`, figures{processed: 2}, []string{`{"a":2}`}},
		{"null is no event", []string{"--jq", ".event"}, `{"x":1}`, figures{}, nil},
		{"JSONPath", []string{"--jsonpath", "$.r[*].e"}, `{"r":[{"e":{"a":1}},{"z":0},{"e":{"b":1, "a":2}}]}`, figures{processed: 2}, []string{`{"b":1,"a":2}`}},
		{"plain lines", []string{"--jq", ".x", "--input-format", "plain"}, `{"x":{"a":2}}`, figures{processed: 1}, nil},
		{"an array", nil, `[{"a":1},{"a":2},7]`, figures{processed: 3}, []string{`{"a":2}`}},
		{"an array taken apart", []string{"--jq", ".[]"}, `[{"a":1},{"a":2},7]`, figures{processed: 3}, []string{`{"a":2}`}},
		{"an array left whole", []string{"--jq", "."}, `[{"a":1},{"a":2},7]`, figures{processed: 1}, []string{`[{"a":1},{"a":2},7]`}},
		{"keys that repeat", nil, `{"a":"x","a":"y"}`, figures{processed: 1}, []string{`{"a":"x","a":"y"}`}},
		{"keys that repeat, filtered", []string{"--jq", "."}, `{"a":"x","a":"y"}`, figures{processed: 1}, []string{`{"a":"y"}`}},
		{"several values", []string{"--jq", ".a"}, `{"a":1} {"a":[{"a":2},3]}`, figures{processed: 2}, []string{`[{"a":2},3]`}},
		{"a line that is not JSON", []string{"--jq", ".a"}, `{"a":1} x`, figures{errors: 1}, nil},
		{"a program that fails", []string{"--jq", ".[] | {a: (2 / .)}"}, `[1,0,1]`, figures{processed: 1}, []string{`{"a":2}`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"-r", filterRules(t), "--input", "http", "--api-addr", "127.0.0.1:0", "--include-event", "--input-format", "json"}, tc.args...)
			d := start(t, args...)
			if got := d.do("POST", "/api/v1/events?commit=true", tc.line+"\n", "Content-Type", "application/x-ndjson"); got.status != 200 || !strings.HasPrefix(got.body, `{"accepted":1`) {
				t.Errorf("got %d %s, want the line accepted and ended", got.status, got.body)
			}
			if got := d.figures(); got != tc.figures {
				t.Errorf("got %+v, want %+v", got, tc.figures)
			}
			d.stop()
			var events []string
			for _, line := range d.stdout.lines() {
				_, after, _ := strings.Cut(line, `"event":`)
				events = append(events, after)
			}
			if len(events) != len(tc.results) {
				t.Fatalf("results %q, want %q", events, tc.results)
			}
			for i, want := range tc.results {
				if !strings.HasPrefix(events[i], want) {
					t.Errorf("event %s, want %s", events[i], want)
				}
			}
		})
	}
}

// With a filter, an array that is a body is one line.
func TestBodiesOfJSONWithAnEventFilter(t *testing.T) {
	d := start(t, "-r", filterRules(t), "--input", "http", "--api-addr", "127.0.0.1:0", "--jq", ".[]")
	got := d.do("POST", "/api/v1/events?commit=true", `[{"a":1},`+"\n"+`{"a":2}]`, "Content-Type", "application/json")
	if got.status != 200 || !strings.HasPrefix(got.body, `{"accepted":1`) {
		t.Errorf("got %d %s, want one line", got.status, got.body)
	}
	if got := d.figures(); got != (figures{processed: 2}) {
		t.Errorf("got %+v, want two events", got)
	}
	d.stop()
	if n := len(d.stdout.lines()); n != 1 {
		t.Errorf("%d results, want one", n)
	}
}

// A program that never ends is ended, the daemon goes on, and the log says so without the
// text of the line.
func TestEventFiltersThatNeverEnd(t *testing.T) {
	d := start(t, "-r", filterRules(t), "--jq", `{a: .a}, if .secret then (def f: f; f) else empty end`)
	fmt.Fprint(d.stdin, `{"a":2,"secret":"hunter2"}`+"\n"+`{"a":2}`+"\n")
	d.await("the results", func() bool { return len(d.stdout.lines()) == 2 })
	if got := d.metric("svc_event_filter_cut_total"); got != 1 {
		t.Errorf("%v lines cut short, want 1", got)
	}
	d.stdin.Close()
	if code := d.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if log := d.stderr.String(); !strings.Contains(log, "event filter went beyond its bounds") || strings.Contains(log, "hunter2") {
		t.Errorf("want the log to tell of the line without its text:\n%s", log)
	}
}

func TestEventFiltersThatCannotBe(t *testing.T) {
	plainly(t)
	rules := filterRules(t)
	file := func(text string) string {
		dir := t.TempDir()
		write(t, dir, "sluice.yaml", text)
		return filepath.Join(dir, "sluice.yaml")
	}
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"jq", []string{"engine", "daemon", "-r", rules, "--jq", ".a }"}, `--jq: unexpected "}" at character 4`},
		{"JSONPath", []string{"engine", "daemon", "-r", rules, "--jsonpath", "$["}, "--jsonpath: unexpected eof at position 3"},
		{"a function with a slip", []string{"engine", "daemon", "-r", rules, "--jq", "lenght"}, "there is no function lenght with 0 arguments"},
		{"both", []string{"engine", "daemon", "-r", rules, "--jq", ".", "--jsonpath", "$"}, "excludes --jsonpath"},
		{"jq of engine eval", []string{"engine", "eval", "-r", rules, "--jq", "halt"}, "the function halt is not available"},
		{"JSONPath of engine eval", []string{"engine", "eval", "-r", rules, "--jsonpath", "a"}, "unexpected identifier at position 1"},
		{"a file", []string{"config", "validate", "--config", file("daemon: {rules: [" + rules + "], input: {jq: 'import \"x\" as x; .'}}")}, "daemon.input.jq"},
		{"a file that is started with", []string{"engine", "daemon", "--config", file("daemon: {rules: [" + rules + "], input: {jsonpath: '$..'}}")}, "daemon.input.jsonpath"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := sluice(t, "", tc.args...)
			if got.code != 3 || !strings.Contains(got.stderr+got.stdout, tc.want) {
				t.Errorf("exit code %d, want 3 and %q:\n%s%s", got.code, tc.want, got.stdout, got.stderr)
			}
		})
	}
}

func TestTheEventFilterOfEval(t *testing.T) {
	rules := filterRules(t)
	dir := t.TempDir()
	write(t, dir, "array.json", "[\n {\"a\": 1},\n {\"a\": 2}\n]\n")
	write(t, dir, "lines.ndjson", `{"r":[{"a":2},null]}`+"\n"+`{"r":[]}`+"\n")
	for _, tc := range []struct{ name, stdin, want, note string }{
		{"an array over lines -e @" + dir + "/array.json --jq .[]", "", "Processed 2 events, 1 match", ""},
		{"an array over lines, whole -e @" + dir + "/array.json --jq .", "", "Processed 1 event, 1 match", ""},
		{"lines -e @" + dir + "/lines.ndjson --jsonpath $.r[*]", "", "Processed 1 event, 1 match", ""},
		{`inline -e [{"a":1},{"a":2}] --jq .`, "", "Processed 1 event, 1 match", ""},
		{"standard input --jq .r[]", `{"r":[{"a":2}]}` + "\n", "Processed 1 event, 1 match", ""},
		{"a program that fails --jq .[]", "{\"a\":2}\n7\n", "Processed 2 events, 0 matches", ""},
		{"an error --jq .a,error --input-format json", "{\"a\":2}\n", "Processed 1 event, 0 matches", "the event filter failed on 1 line, the last time with: "},
		{"nothing of most lines --jq .Record", `{"Record":{"a":2}}` + "\n{}\n{}\n", "Processed 1 event, 1 match", "\nthe event filter left no event of 2 of 3 lines\n"},
		{"a loop --jq .,repeat(empty)", "{\"a\":2}\n", "Processed 1 event, 1 match", "the event filter went beyond its bounds on 1 line, the last time: the program takes too many steps"},
	} {
		args := strings.Split(tc.name, " -")
		for i := 1; i < len(args); i++ {
			args[i] = "-" + args[i]
		}
		t.Run(args[0], func(t *testing.T) {
			all := []string{"engine", "eval", "-r", rules}
			for _, a := range args[1:] {
				name, value, _ := strings.Cut(a, " ")
				all = append(all, name, value)
			}
			got := sluice(t, tc.stdin, all...)
			if text := got.stderr; got.code != 0 || !strings.Contains(text, tc.want) || !strings.Contains(text, tc.note) {
				t.Errorf("exit code %d, want %q and %q:\n%s", got.code, tc.want, tc.note, text)
			}
		})
	}
}
