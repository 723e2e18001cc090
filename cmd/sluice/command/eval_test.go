package command

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sources"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const (
	object   = `{"CommandLine":"cmd /c whoami","n":1}`
	hit      = object + "\n"
	indented = "[\n  {\n    \"CommandLine\": \"whoami\",\n    \"n\": 1\n  },\n  {\n    \"CommandLine\": \"whoami\"\n  }\n]\n"
)

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text)) // into memory
	_ = z.Close()
	return b.String()
}

func TestEval(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		stdin string
		args  []string
		code  int
		lines int // of stdout
		err   []string
	}{
		{"a match", nil, hit, nil, 0, 1, []string{"Processed 1 event, 1 match.\n"}},
		{"a match that must not be", nil, hit, []string{"--fail-on-detection"}, 1, 1, nil},
		{"no match where none must be", nil, "{}\n", []string{"--fail-on-detection"}, 0, 0, []string{"Processed 1 event, 0 matches.\n"}},
		{"an inline event that is no JSON", nil, "", []string{"-e", "{bad"}, 2, 0, []string{"--event"}},
		{"an inline event that is empty", nil, hit, []string{"-e", ""}, 2, 0, []string{"--event"}},
		{"a file that is missing", nil, "", []string{"-e", "@missing"}, 2, 0, []string{"missing"}},
		{"a directory of events", map[string]string{"d/x": ""}, "", []string{"-e", "@d"}, 2, 0, []string{"is a directory"}},
		{"an inline event", nil, "", []string{"-e", hit}, 0, 1, nil},
		{"an inline event over several lines", nil, "", []string{"-e", "{\n\"CommandLine\":\n\"whoami\"}"}, 0, 1, nil},
		{"events of a file", map[string]string{"ev": hit + "\n \n" + hit}, "", []string{"-e", "@ev"}, 0, 2, []string{"Processed 2 events, 2 matches."}},
		{"an inline array", nil, "", []string{"-e", "[" + hit + "," + hit + "]"}, 0, 2, []string{"Processed 2 events, 2 matches."}},
		{"inline events one behind the other", nil, "", []string{"-e", object + " " + object}, 0, 2, []string{"Processed 2 events, 2 matches."}},
		{"inline events whatever the format", nil, "", []string{"-e", object, "--input-format", "syslog"}, 0, 1, nil},
		{"an inline event says where its fault is", nil, "", []string{"-e", "[{'a':1}]"}, 2, 0, []string{"--event: not JSON at byte 2: key in double quotes expected (a file of events is @FILE)"}},
		{"events that are named one by one", map[string]string{"ev": hit + "\n" + object}, hit, []string{"-e", hit, "--event", "@ev", "--event=" + object, "-e", "{}"}, 0, 4, []string{"Processed 5 events, 4 matches."}},
		{"inline events beside a file in another format", map[string]string{"ev": "x=1 CommandLine=whoami\nplain"}, "", []string{"-e", object, "-e", "@ev", "--input-format", "logfmt"}, 0, 2, []string{"Processed 3 events, 2 matches."}},
		{"one of several events is no JSON", nil, "", []string{"-e", hit, "-e", "{bad", "-e", hit}, 2, 0, []string{"--event"}},
		{"one of several files is missing", map[string]string{"ev": hit}, "", []string{"-e", "@ev", "-e", "@missing"}, 2, 0, []string{"missing"}},
		{"an inline array of nothing", nil, "", []string{"-e", "[]"}, 0, 0, []string{"Processed 0 events, 0 matches."}},
		{"a file of an indented array", map[string]string{"ev": indented}, "", []string{"-e", "@ev"}, 0, 2, []string{"Processed 2 events, 2 matches."}},
		{"a file of gzip", map[string]string{"ev.gz": gzipped(hit + hit)}, "", []string{"-e", "@ev.gz"}, 0, 2, []string{"Processed 2 events, 2 matches."}},
		{"gzip whatever the name of the file", map[string]string{"ev": gzipped(hit)}, "", []string{"-e", "@ev"}, 0, 1, nil},
		{"gzip of several members", map[string]string{"ev.gz": gzipped(hit) + gzipped(hit)}, "", []string{"-e", "@ev.gz"}, 0, 2, []string{"Processed 2 events, 2 matches."}},
		{"gzip of an indented array on stdin", nil, gzipped(indented), nil, 0, 2, []string{"Processed 2 events, 2 matches."}},
		{"gzip of another format", nil, gzipped("whoami\n"), []string{"--input-format", "logfmt"}, 0, 0, []string{"Processed 1 event"}},
		{"gzip that breaks off", map[string]string{"ev.gz": gzipped(hit)[:30]}, "", []string{"-e", "@ev.gz"}, 2, 0, []string{"inflate gzip: it ends too early"}},
		{"an indented array on stdin", nil, indented, nil, 0, 2, []string{"Processed 2 events, 2 matches."}},
		{"an indented array where lines must be JSON", nil, indented, []string{"--input-format", "json"}, 0, 2, []string{"Processed 2 events, 2 matches."}},
		{"an indented array is lines in another format", nil, indented, []string{"--input-format", "plain"}, 0, 0, []string{"Processed 9 events, 0 matches."}},
		{"an indented array with a bad first element", nil, strings.Replace(indented, "}", "x}", 1), nil, 0, 0, []string{"Processed 9 events, 0 matches.\n3 lines begin like JSON"}},
		{"a bad element behind a good one", nil, "[\n" + hit + ",\n{bad},\n" + hit + "]", nil, 0, 2, []string{"Processed 3 events, 2 matches, 1 not decoded."}},
		{"an array on each line", nil, "[" + object + "," + object + "]\n[" + object + "]\n", nil, 0, 3, []string{"Processed 3 events, 3 matches."}},
		{"several objects on a line", nil, object + object + "\n" + hit, nil, 0, 3, []string{"Processed 3 events, 3 matches."}},
		{"an array on a line that is too long for one", nil, "[" + object + strings.Repeat(","+object, 1<<15) + "]", nil, 0, 1<<15 + 1, nil},
		{"lines that begin like JSON", nil, strings.Repeat("{\"a\":\n", 48) + "{\"a\":1}\n", nil, 0, 0, []string{
			"Processed 49 events, 0 matches.\n48 lines begin like JSON but are not valid: one event per line, for example with jq -c .\n",
		}},
		{"JSON in the format syslog", nil, hit + "[]\n", []string{"--input-format", "syslog"}, 0, 0, []string{"Processed 2 events, 0 matches.\n2 lines begin like JSON, with no header of syslog in front: --input-format auto or json reads JSON\n"}},
		{"one such line", nil, "[x] y\n", nil, 0, 0, []string{"stdin:1: not JSON at byte 1: not a JSON value\nProcessed 1 event, 0 matches.\n1 line begins like JSON but is not valid: taken as plain text\n"}},
		{"the first of such lines is named", map[string]string{"ev": hit + "\n\n" + hit, "bad": "\n" + object + "\r\n{\"a\":\"\\x\"}\n[}\n"}, "", []string{"-e", "@ev", "-e", "@bad"}, 0, 3, []string{"bad:3: not JSON at byte 6: invalid escape in a string (and 1 more)\nProcessed 5 events, 3 matches.\n2 lines begin like JSON but are not valid: taken as plain text\n"}},
		{"the first line that must be JSON and is not", map[string]string{"ev": object + "\nno\n{\"a\":}\n"}, "", []string{"-e", "@ev", "--input-format", "json"}, 0, 1, []string{"ev:2: not JSON at byte 0: not a JSON value (and 1 more)\nProcessed 3 events, 1 match, 2 not decoded.\n"}},
		{"the first line that must be CEF and is not", nil, "CEF:0|a|b|1|2|n|3|\nno\n", []string{"--input-format", "cef"}, 0, 0, []string{"stdin:2: not cef\nProcessed 2 events, 0 matches, 1 not decoded.\n"}},
		{"the first line that is too long", nil, object + "\n" + strings.Repeat("x", 1<<20+1) + "\n", nil, 0, 1, []string{"stdin:2: longer than 1048576 bytes\nProcessed 2 events"}},
		{"an array that is cut off between two elements", map[string]string{"ev": "[" + hit + ",\n"}, "", []string{"-e", "@ev"}, 0, 1, []string{"ev:3: not JSON at byte 1: line ends inside a value\nProcessed 2 events, 1 match, 1 not decoded.\n"}},
		{"standard input by name", nil, hit + hit, []string{"-e", object, "-e", "@-"}, 0, 3, []string{"Processed 3 events, 3 matches."}},
		{"UTF-16", map[string]string{"ev": "\xff\xfe{\x00}\x00"}, "", []string{"-e", "@ev"}, 2, 0, []string{"read events: ev: it is UTF-16, which is not read: send it through iconv -f UTF-16 -t UTF-8 FILE"}},
		{"xz on stdin", nil, "\xfd7zXZ\x00...", nil, 2, 0, []string{"read events: stdin: it is xz, which is not read: send it through xz -dc FILE"}},
		{"zstd", nil, "\x28\xb5\x2f\xfd...", nil, 2, 0, []string{"it is zstd, which is not read: send it through zstd -dc FILE"}},
		{"bzip2", nil, "BZh91AY&SY...", nil, 2, 0, []string{"it is bzip2, which is not read: send it through bzip2 -dc FILE"}},
		{"zip", nil, "PK\x03\x04...", nil, 2, 0, []string{"it is zip, which is not read: send it through unzip -p FILE"}},
		{"records of the event log under another name", map[string]string{"ev": "ElfFile\x00..."}, "", []string{"-e", "@ev"}, 2, 0, []string{"it is a file of Windows event records, which is read from a file whose name ends in .evtx"}},
		{"such lines where they must be JSON", nil, strings.Repeat("{\"a\":\n", 48) + "{\"a\":1}\n", []string{"--input-format", "json"}, 0, 0, []string{"Processed 49 events, 0 matches, 48 not decoded.\n"}},
		{"quiet about such lines", nil, "{\"a\":\n", []string{"-q"}, 0, 0, nil},
		{"plain text as it is", nil, "user ran whoami\n", nil, 0, 0, []string{"Processed 1 event, 0 matches."}},
		{"lines that must be JSON and are not", nil, hit + "no\n{\"a\":}\n" + hit, []string{"--input-format", "json"}, 0, 2, []string{"Processed 4 events, 2 matches, 2 not decoded."}},
		{"a line that is too long", nil, `{"a":"` + strings.Repeat("x", 1<<20) + "\"}\n" + hit, nil, 0, 1, []string{"Processed 2 events, 1 match, 1 not decoded."}},
		{"an empty input", nil, "", nil, 0, 0, []string{"Processed 0 events, 0 matches."}},
		{"a broken rule beside a good one", map[string]string{"r/b.yml": brokenRule}, hit, nil, 0, 1, []string{"b.yml:4: document 1"}},
		{"nothing but a broken rule", map[string]string{"o/b.yml": brokenRule}, hit, []string{"-r", "o"}, 2, 0, []string{"Error compiling rules"}},
		{"a broken rule where none may be", map[string]string{"r/b.yml": brokenRule}, hit, []string{"--strict-rules"}, 2, 0, []string{"nosuch"}},
		{"several roots", map[string]string{"s/b.yml": goodRule}, hit, []string{"-r", "r", "-r", "s/b.yml"}, 0, 2, nil},
		{"too low a level", nil, hit, []string{"--min-level", "critical"}, 0, 0, []string{"warning: no rule is loaded, so nothing can match: --min-level and --exclude-rule leave out all that is below"}},
		{"a tag left out", nil, hit, []string{"--exclude-rule", "tag:attack.t1033"}, 0, 0, nil},
		{"an empty rule directory", map[string]string{"o/x.txt": ""}, hit, []string{"-r", "o"}, 0, 0, []string{"warning: no rule is loaded, so nothing can match: below o is no file whose name ends in .yml or .yaml"}},
		{"rules that are missing", nil, hit, []string{"-r", "nowhere"}, 2, 0, []string{"nowhere"}},
		{"routing prunes and says so", map[string]string{"r/b.yml": linuxRule}, hit, []string{"--logsource-routing", "--event-logsource", "product=linux"}, 0, 0, []string{"Log sources: 1 rule check skipped; 0 events have no log source."}},
		{"a file whose name ends in capitals", map[string]string{"r/B.YML": goodRule, "r/c/D.Yaml": goodRule}, hit, nil, 0, 1, []string{"warning: r/B.YML is passed over: the names of rule files end in .yml or .yaml, in lower case (and 1 more)\n"}},
		{"a log source without routing", nil, hit, []string{"--event-logsource", "product=linux"}, 0, 1, []string{"warning: eval.logsource_routing.event_logsource: has no effect without logsource_routing.enabled (--logsource-routing)\n"}},
		{"a derivation without routing", nil, hit, []string{"--logsource-derive", "off"}, 0, 1, []string{"warning: --logsource-derive: has no effect without logsource_routing.enabled (--logsource-routing)\n"}},
		{"rules that are all skipped", map[string]string{"w/a.yml": strings.Replace(linuxRule, "linux", "window", 1)}, `{"product":"windows"}`, []string{"--logsource-routing", "-r", "w"}, 0, 0, []string{"hint: every rule was skipped for every event, since no log source of a rule fits theirs (products of the rules: window; of the events: windows): "}},
		{"a format nobody knows", nil, hit, []string{"--input-format", "xml"}, 3, 0, []string{"--input-format"}},
		{"lines of keys and values", nil, "CommandLine=\"whoami /all\" n=1\n", []string{"--input-format", "logfmt"}, 0, 1, nil},
		{"a pipeline that renames", nil, `{"process.command_line":"whoami"}`, []string{"-p", "ecs_windows"}, 0, 1, nil},
		{"a pipeline that is missing", nil, hit, []string{"-p", "nope.yml"}, 3, 0, []string{"Error loading pipeline nope.yml"}},
		{"quiet", nil, hit, []string{"-q"}, 0, 1, nil},
		{"without statistics", nil, hit, []string{"--no-stats"}, 0, 1, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			write(t, "r/a.yml", goodRule)
			for name, text := range tc.files {
				write(t, name, text)
			}
			args := append([]string{"eval"}, tc.args...)
			if !strings.Contains(strings.Join(args, " "), "-r ") {
				args = append(args, "-r", "r")
			}
			got := sluice(t, tc.stdin, args...)
			got.wantCode(t, tc.code)
			got.wantErr(t, tc.err...)
			if n := strings.Count(got.out, "\n"); n != tc.lines {
				t.Errorf("stdout has %d lines, want %d:\n%s", n, tc.lines, got.out)
			}
			if strings.Contains(tc.name, "quiet") && got.err != "" {
				t.Errorf("stderr got %q, want nothing", got.err)
			}
			if tc.name == "without statistics" && strings.Contains(got.err, "Processed") {
				t.Errorf("stderr got %q, want no summary", got.err)
			}
		})
	}
}

func TestEvalFormats(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	write(t, "r/b.yml", strings.Replace(linuxRule, "level: low\n", "", 1))
	events := `{"CommandLine":"whoami, \"really\"","Image":"/bin/sh"}` + "\n" + `{"Image":"` + strings.Repeat("é", 300) + `/sh"}` + "\n"
	for _, tc := range []struct {
		golden string
		args   []string
	}{
		{"eval-ndjson", nil},
		{"eval-json", []string{"--output-format", "json"}},
		{"eval-pretty", []string{"--pretty"}},
		{"eval-table", []string{"--output-format", "table"}},
		{"eval-color", []string{"--output-format", "table", "--color", "always"}},
		{"eval-csv", []string{"--output-format", "csv"}},
		{"eval-tsv", []string{"--output-format", "tsv"}},
	} {
		got := sluice(t, events, append([]string{"engine", "eval", "-r", "r"}, tc.args...)...)
		got.wantCode(t, 0)
		wantGolden(t, tc.golden, got.out)
	}
	for _, format := range []string{"table", "csv"} {
		got := sluice(t, "", "engine", "eval", "-r", "r", "--output-format", format)
		if !strings.HasPrefix(got.out, "LEVEL") {
			t.Errorf("%s without results has no header: %q", format, got.out)
		}
	}
}

// Workers finish batches in any order, and the output does not show it.
func TestEvalKeepsTheOrderOfEvents(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	var events strings.Builder
	const n = 20_000
	for i := range n {
		fmt.Fprintf(&events, `{"CommandLine":"whoami","n":%d,"pad":"%s"}`+"\n", i, strings.Repeat("x", i%97))
	}
	got := sluice(t, events.String(), "eval", "-r", "r", "--include-event")
	got.wantCode(t, 0)
	got.wantErr(t, fmt.Sprintf("Processed %d events, %d matches.", n, n))
	i := 0
	for line := range strings.Lines(got.out) {
		var r struct{ Event struct{ N int } }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Event.N != i {
			t.Fatalf("line %d is of event %d", i, r.Event.N)
		}
		i++
	}
	if i != n {
		t.Errorf("%d results, want %d", i, n)
	}
}

// A pipe that stays open is answered event by event.
func TestEvalAnswersAtOnce(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	in, feed := io.Pipe()
	results, out := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- Run(nil, []string{"sluice", "eval", "-r", "r", "-q"}, in, out, io.Discard)
		_ = in.Close() // whatever went wrong, nobody waits for it
		_ = out.Close()
	}()
	buf := make([]byte, 4096)
	for range 3 {
		if _, err := io.WriteString(feed, hit); err != nil {
			t.Fatal(err)
		}
		if n, err := results.Read(buf); err != nil || !strings.Contains(string(buf[:n]), "Whoami") {
			t.Fatalf("got %q, %v; want a result before the next event", buf[:n], err)
		}
	}
	if err := feed.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-code; got != 0 {
		t.Errorf("exit code %d, want 0", got)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestEvalReportsThatItCannotWrite(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	var errs strings.Builder
	code := Run(nil, []string{"sluice", "eval", "-r", "r"}, strings.NewReader(strings.Repeat(hit, 5000)), brokenPipe{}, &errs)
	if code != 3 || !strings.Contains(errs.String(), "write results: no space left") {
		t.Errorf("exit code %d with %q", code, errs.String())
	}
}

func TestASignalEndsACommand(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	in, feed := io.Pipe()
	signals := make(chan os.Signal, 1)
	code := make(chan int, 1)
	go func() {
		code <- Run(signals, []string{"sluice", "eval", "-r", "r"}, in, io.Discard, io.Discard)
	}()
	signals <- syscall.SIGTERM
	if got := <-code; got != 143 {
		t.Errorf("exit code %d, want 143", got)
	}
	_ = feed.Close() // lets the abandoned reader end
}

// One-shot evaluation and the service must not disagree about a single byte.
func TestEvalWritesWhatTheDaemonWrites(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	write(t, "r/b.yml", linuxRule)
	write(t, "r/c.yml", "title: Words\nlogsource: {category: x}\ndetection: {words: [sudo], condition: words}\n")
	var events strings.Builder
	for i := range 3000 {
		switch i % 5 {
		case 0:
			fmt.Fprintf(&events, `{"CommandLine":"whoami %d","Image":"/bin/sh","t": [1, 2.50]}`+"\n", i)
		case 1:
			fmt.Fprintf(&events, "plain text with sudo %d\r\n", i)
		case 2:
			fmt.Fprintf(&events, "<34>Oct 11 22:14:15 host su: sudo %d\n\n", i)
		case 3:
			fmt.Fprintf(&events, "{broken %d\n", i)
		default:
			fmt.Fprintf(&events, `{"Image":"\u002fbin/sh","n":1e400,"@timestamp":%d}`+"\n", 1_700_000_000+i)
		}
	}
	shared := []string{"-r", "r", "--match-detail", "full", "--include-event"}
	one := sluice(t, events.String(), append([]string{"eval"}, shared...)...)
	one.wantCode(t, 0)
	two := sluiceWith(t, Program{Daemon: serve}, events.String(),
		append([]string{"daemon", "--api-addr", "127.0.0.1:0", "--drain-timeout", "600", "--log-level", "warn"}, shared...)...)
	two.wantCode(t, 0)
	if one.out != two.out {
		a, b := strings.Split(one.out, "\n"), strings.Split(two.out, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("line %d: eval wrote\n%s\nthe daemon wrote\n%s", i, a[i], b[i])
			}
		}
		t.Fatalf("eval wrote %d lines, the daemon %d", len(a), len(b))
	}
	if strings.Count(one.out, "\n") < 3000 {
		t.Errorf("only %d results: the test tests nothing", strings.Count(one.out, "\n"))
	}
}

func TestEvalLogsOnlyWhenAsked(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	silent := sluice(t, hit, "eval", "-r", "r", "--no-stats")
	if silent.err != "" {
		t.Errorf("stderr got %q, want nothing", silent.err)
	}
	logged := sluice(t, hit, "eval", "-r", "r", "--no-stats", "--log-format", "json")
	logged.wantErr(t, `"target":"sluice.engine","fields":{"message":"rules loaded","detection_rules":1,`)
}

// As in tail -f events | sluice eval | head -1.
func TestAnEvaluationEndsWhenNobodyTakesItsResults(t *testing.T) {
	rules := load.FromBytes("r", []byte(goodRule), load.Options{})
	set, err := engine.Compile(rules.Rules, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		p := newPrinter(&console{Streams: Streams{Out: closedPipe{}, Err: io.Discard}, format: formatNDJSON}, false)
		e := newEvaluation(&graph.RuleSet{Engine: set}, nil, new(format.Decoder), p, &config.Default().Eval, func(...string) {})
		events, feed := io.Pipe() // which stays open
		defer feed.Close()
		go io.WriteString(feed, hit)
		if err := e.run(sources.NewLineReader(events)); !errors.Is(err, syscall.EPIPE) || e.total.matches != 1 {
			t.Errorf("%d matches, %v, want one and a broken pipe", e.total.matches, err)
		}
	})
}

// closedPipe is an output that nobody reads.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestAPanicCostsOneEvent(t *testing.T) {
	rules := load.FromBytes("r", []byte(goodRule), load.Options{})
	set, err := engine.Compile(rules.Rules, engine.Options{IncludeEvent: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := newPrinter(&console{Streams: Streams{Out: &out, Err: io.Discard}, format: formatNDJSON}, false)
	e := newEvaluation(&graph.RuleSet{Engine: set}, nil, new(format.Decoder), p, &config.Default().Eval, func(...string) {})
	e.render = func(g *page, r *graph.Result) {
		p.renderer()(g, r)
		if strings.Contains(string(r.Detection.Extra.Event), "bad") {
			panic("out of luck")
		}
	}
	good, bad := `{"CommandLine":"whoami"}`+"\n", `{"CommandLine":"whoami bad"}`+"\n"
	if err := e.run(sources.NewLineReader(strings.NewReader(bad + good + bad + bad + good + bad))); err != nil {
		t.Fatal(err)
	}
	if e.total.events != 6 || e.total.matches != 2 || e.total.failed != 4 || e.total.failure.Error() != "panic: out of luck" {
		t.Errorf("got %+v, want 6 events, 2 matches and 4 failures", e.total)
	}
	if n := strings.Count(out.String(), "\n"); n != 2 || strings.Contains(out.String(), "bad") {
		t.Errorf("want the two good results, got\n%s", out.String())
	}
}
