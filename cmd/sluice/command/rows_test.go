package command

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
	"github.com/sluicehq/sluice/sources"
)

// watched is a console that somebody watches, on a terminal of so many columns.
func watched(out io.Writer, width func() int) *console {
	return &console{Streams: Streams{Out: out, Err: io.Discard}, format: formatJSON, terminal: true, width: width}
}

func columns(n int) func() int { return func() int { return n } }

// watch evaluates events and returns the rows.
func watch(t *testing.T, width func() int, rules, events string) string {
	t.Helper()
	c := load.FromBytes("r", []byte(rules), load.Options{})
	if len(c.Rejected) > 0 {
		t.Fatal(c.Rejected)
	}
	program, err := correlation.Compile(c.Correlations, c.Rules, correlation.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := engine.Compile(c.Rules, engine.Options{MatchDetail: result.Summary, TimestampFields: []string{"when"}, Fields: program.Spec().Fields})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := newPrinter(watched(&out, width), false)
	p.fit(c)
	rs := &graph.RuleSet{Engine: set, Correlation: program}
	e := newEvaluation(rs, nil, &format.Decoder{}, p, &config.Default().Eval, func(...string) {})
	if err := errors.Join(e.run(sources.NewLineReader(strings.NewReader(events))), p.finish()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const (
	fieldRule   = "title: Discovery\nlevel: low\ndetection: {s: {CommandLine|contains: whoami}, condition: s}\n"
	keywordRule = "title: Words\nlevel: critical\ndetection: {words: [mimi*katz, 'sekurlsa, logonpasswords', 7777], condition: words}\n"
)

func TestRowsTellWhenAndWhereAnEventHappened(t *testing.T) {
	const at = "1970-01-01T00:01:40Z"
	for _, tc := range []struct{ name, event, want string }{
		{"neither", `{}`, "- -"},
		{"a time in seconds", `{"timestamp":100}`, at + " -"},
		{"a time with an offset", `{"@timestamp":"1970-01-01T01:01:40.9+01:00"}`, at + " -"},
		{"the configured field wins", `{"@timestamp":1,"when":100}`, at + " -"},
		{"the first field with a time wins", `{"@timestamp":"soon","EventTime":100,"eventTime":5}`, at + " -"},
		{"several values are no time", `{"timestamp":[100,100]}`, "- -"},
		{"a host", `{"Computer":"dc1","hostname":"other"}`, "- dc1"},
		{"a host in an object", `{"host":{"name":"web-1"},"winlog":{"computer_name":"other"}}`, "- web-1"},
		{"a key with dots", `{"host.name":"web-1"}`, "- web-1"},
		{"an export of Windows records", `{"Event":{"System":{"Computer":"dc2"}}}`, "- dc2"},
		{"a resource", `{"resource":{"host.name":"otel"}}`, "- -"},
		{"a resource of objects", `{"resource":{"host":{"name":"otel"}}}`, "- otel"},
		{"fields without a text are passed over", `{"Computer":null,"ComputerName":{"a":1},"Hostname":"","hostname":["h1","h2"]}`, "- h1"},
		{"a number is a text", `{"Computer":12}`, "- 12"},
		{"a year that never was", `{"timestamp":"0000-01-01T00:00:00Z"}`, "0000-01-01T00:00:00Z -"},
		{"a time before all clocks", `{"timestamp":-5}`, "-5 -"},
		{"a time that is far away", `{"timestamp":9999999999999999}`, "9999999999999999 -"},
		{"a time that is far away and long", `{"timestamp":"2900-01-01T00:00:00.000000000Z"}`, "2900-01-01T00:00:... -"},
		{"the end of the times that can be", `{"timestamp":4102444799}`, "2099-12-31T23:59:59Z -"},
		{"both", `{"Computer":"dc1","timestamp":"100"}`, "- dc1"},
		{"digits are a time from ten on", `{"timestamp":"0000000100"}`, at + " -"},
	} {
		event := strings.Replace(tc.event, "{", `{"CommandLine":"whoami",`, 1)
		event = strings.Replace(event, ",}", "}", 1)
		lines := strings.Split(watch(t, columns(200), fieldRule, event+"\n"), "\n")
		if len(lines) != 3 {
			t.Fatalf("%s: got %q, want a header and a row", tc.name, lines)
		}
		if got := strings.Join(strings.Fields(lines[1])[:2], " "); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// The time of a row is the one that correlations count by.
func TestTheTimeOfARowIsThatOfTheEngine(t *testing.T) {
	set, err := engine.Compile(nil, engine.Options{TimestampFields: []string{"a.b", "list[0]"}})
	if err != nil {
		t.Fatal(err)
	}
	o := newOrigins(set)
	w := set.NewWorker()
	for _, line := range []string{
		`{}`, `[]`, `5`, `{"a":{"b":100}}`, `{"a.b":100,"a":{"b":200}}`, `{"a":[{"b":100},{"b":200}]}`, `{"a":[{"b":100}]}`,
		`{"timestamp":1,"timestamp":2}`, `{"timestamp":[1]}`, `{"timestamp":{"a":1},"EventTime":7}`, `{"timestamp":-5}`,
		`{"timestamp":1000000000000}`, `{"timestamp":1720614600123}`, `{"@timestamp":"2024-07-10T14:30:00.9+0200"}`, `{"timestamp":null,"eventTime":9}`,
		`[{"timestamp":5}]`, `[{"timestamp":5},{"timestamp":6}]`, `{"timestamp":true}`, `{"list":[100]}`, `{"list[0]":100}`,
	} {
		var ev engine.Events
		if err := w.DecodeJSON(&ev, []byte(line)); err != nil {
			t.Fatal(err)
		}
		unix, ok := w.Time(&ev, 0)
		want := unknownCell
		switch {
		case ok && timeFirst <= unix && unix < timeEnd:
			want = rfc3339(unix)
		case ok:
			want = strings.Trim(line[len(`{"timestamp":`):], "}")
		}
		if got := o.when(ev.Root(0)); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

// A keyword is shown as it stands in the event, never one that did not match.
func TestRowsShowTheKeywordThatWasFound(t *testing.T) {
	words := func(modifiers, values string) string {
		return "title: T\ndetection: {w: {'|" + modifiers + "': " + values + "}, condition: w}\n"
	}
	for _, tc := range []struct{ name, rule, line, want string }{
		{"one of several, as the event writes it", keywordRule, "ran Sekurlsa, LogonPasswords now", "keyword=Sekurlsa, LogonPasswords in ran Sekurlsa, LogonPasswords now"},
		{"a wildcard", keywordRule, "MIMI-katz", "keyword=MIMI-katz in MIMI-katz"},
		{"a wildcard that takes no more than it must", keywordRule, "mimikatz and katz", "keyword=mimikatz in mimikatz and katz"},
		{"one character of any kind", words("contains", "['e?il']"), "so e.il", "keyword=e.il in so e.il"},
		{"wildcards at the ends", words("contains", "['*evil*']"), "so Evil it is", "keyword=Evil in so Evil it is"},
		{"a number", keywordRule, "port 7777 open", "keyword=7777 in port 7777 open"},
		{"in a field of the event", keywordRule, `{"a":{"b":"7777"}}`, "keyword=7777 in 7777"},
		{"case that counts", words("cased", "[evil, Evil]"), "so Evil", "keyword=Evil in so Evil"},
		{"the beginning, not what stands behind it", words("startswith", "[evil, bad]"), "bad and evil", "keyword=bad in bad and evil"},
		{"the end, not what stands in front of it", words("endswith", "[evil, 'b*d']"), "evil and bad", "keyword=bad in evil and bad"},
		{"an expression", words("re", "[ev.l, 'b.d$']"), "so evil", "keyword=evil in so evil"},
		{"an expression with flags", words("re|i", "[ev.l, 'b.d$']"), "evi and BAD", "keyword=BAD in evi and BAD"},
		{"all of several: the first", words("all", "[evil, bad]"), "bad evil", "keyword=evil in bad evil"},
		{"nothing when it is encoded", words("base64offset|contains", "whoami"), "x d2hvYW1p", "keyword in x d2hvYW1p"},
		{"a field beside it", "title: T\ndetection: {f: {a: 1}, w: [evil], condition: f and w}\n", `{"a":1,"b":"evil"}`, "a=1, keyword=evil in evil"},
		{"a field that has to be absent", "title: T\ndetection: {f: {a: null, b: 1}, condition: f}\n", `{"b":1}`, "a=null, b=1"},
	} {
		got := strings.Split(watch(t, columns(200), tc.rule, tc.line+"\n"), "\n")
		if len(got) != 3 || !strings.HasSuffix(got[1], "  "+tc.want) {
			t.Errorf("%s: got %q, want %q at the end", tc.name, got, tc.want)
		}
	}
}

func TestRowsOfCorrelationsTellOfTheEventThatFiredThem(t *testing.T) {
	rules := "title: Login\nid: l\nlevel: low\ndetection: {s: {a: login}, condition: s}\n---\n" +
		"title: Guessing\nlevel: high\ncorrelation: {type: event_count, rules: l, group-by: u, timespan: 1m, condition: {gte: 2}}\n"
	events := `{"a":"login","u":"ann","timestamp":100,"Computer":"h1"}` + "\n" + `{"a":"login","u":"ann","timestamp":120,"Computer":"h2"}` + "\n" +
		`{"a":"login","u":"ann","Computer":"h3"}` + "\n" + `{"a":"login","u":"ann"}` + "\n"
	got := watch(t, columns(100), rules, events)
	want := `TIME                  HOST  LEVEL  RULE      TYPE         DETAIL
1970-01-01T00:01:40Z  h1    low    Login     detection    a=login
1970-01-01T00:02:00Z  h2    low    Login     detection    a=login
1970-01-01T00:02:00Z  h2    high   Guessing  event_count  u=ann | agg=2
-                     h3    low    Login     detection    a=login
-                     -     low    Login     detection    a=login
-                     -     high   Guessing  event_count  u=ann | agg=2
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Rows are never wider than the terminal, whatever its width is when they are written.
func TestRowsFitIntoTheTerminal(t *testing.T) {
	rules := strings.Replace(keywordRule, "Words", "A title that is longer than there is room for it", 1)
	event := `{"timestamp":100,"Computer":"a-host-with-a-long-name.example.com","t":"7777 ` + strings.Repeat("日本e\u0301👍️ ", 40) + `"}` + "\n"
	for _, tc := range []struct {
		width int
		want  string // of the row; only its width counts when empty
	}{
		{300, ""},
		{200, ""},
		{120, "1970-01-01T00:01:40Z  a-host-with-a-long...  critical  A title that is longer th...  detection  keyword=7777 in 7777 ..."},
		{100, "1970-01-01T00:01:40Z  a-host-wi...  critical  A title that is longer th...  keyword=7777 in 7777 ..."},
		{80, "1970-01-01T00:01:40Z  a-host-with-a-l...  critical  A title that is longer th..."},
		{70, "1970-01-01T00:01:40Z  a-hos...  critical  A title that is longer th..."},
		{60, "1970-01-01T00:01:40Z  critical  A title that is longer th..."},
		{40, "critical  A title that is longer than..."},
		{10, "critical"},
		{2, ".."},
		{1, "."},
	} {
		lines := strings.Split(watch(t, columns(tc.width), rules, event), "\n")
		for _, line := range lines {
			if n := terminal.Places(line); n > tc.width {
				t.Errorf("%d columns: a line of %d: %s", tc.width, n, line)
			}
		}
		if tc.want != "" && lines[1] != tc.want {
			t.Errorf("%d columns: got\n%s\nwant\n%s", tc.width, lines[1], tc.want)
		}
	}
}

func TestRowsKeepEventsFromSteeringTheTerminal(t *testing.T) {
	var out bytes.Buffer
	c := watched(&out, columns(120))
	c.color = true
	p := newPrinter(c, false)
	p.fit(&load.Collection{
		Rules:        []*ast.Rule{{Meta: ast.Meta{Title: "A rule", Level: ast.LevelHigh}}},
		Correlations: []*ast.Correlation{{Meta: ast.Meta{Title: "Longer"}, Type: ast.TemporalOrdered}},
	})
	if err := p.rows.Write([]terminal.Row{
		{Cells: []string{"-", "h\x1b[2J", "high", "A rule", "detection", "Image=a.exe"}, Color: terminal.ColorOf(ast.LevelHigh)},
		{Cells: []string{"-", "h", "-", "Longer", "temporal_ordered", "Image=a\u202eexe"}, Color: ""},
	}); err != nil {
		t.Fatal(err)
	}
	want := "TIME  HOST   LEVEL  RULE    TYPE              DETAIL\n" +
		"-     h [2J  \x1b[31mhigh\x1b[0m   A rule  detection         Image=a.exe\n" +
		"-     h      -      Longer  temporal_ordered  Image=a exe\n" // what turns text around stands in no row
	if got := out.String(); got != want {
		t.Errorf("output\n%q\nwant\n%q", got, want)
	}
}

func TestWhatATerminalShows(t *testing.T) {
	for _, tc := range []struct {
		name   string
		format string // chosen, if any
		pretty bool
		rows   bool
		form   graph.Form
	}{
		{"rows", "", false, true, step.Native{}},
		{"indented JSON with --pretty", "", true, false, step.Pretty{}},
		{"rows for a table", formatTable, false, true, step.Native{}},
		{"rows for a table, whatever --pretty says", formatTable, true, true, step.Native{}},
		{"indented JSON for json", formatJSON, false, false, step.Pretty{}},
		{"lines for ndjson", formatNDJSON, true, false, step.Native{}},
		{"no rows for csv", formatCSV, false, false, step.Native{}},
	} {
		c := watched(io.Discard, columns(80))
		if tc.format != "" {
			c.format, c.explicit = tc.format, true
		}
		p := newPrinter(c, tc.pretty)
		if (p.rows != nil) != tc.rows || p.form != tc.form || (p.table != nil) != (tc.format == formatCSV) {
			t.Errorf("%s: got rows %v, table %v, form %T", tc.name, p.rows != nil, p.table != nil, p.form)
		}
	}
}

// What only JSON results have is refused where a table is shown.
func TestTablesRefuseWhatTheyCannotShow(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	var all strings.Builder
	for _, flag := range []string{"--include-event", "--result-time"} {
		for _, format := range []string{formatTable, formatCSV, formatTSV} {
			got := sluice(t, hit, "engine", "eval", "-r", "r", flag, "--output-format", format)
			got.wantCode(t, exitConfig)
			if got.out != "" {
				t.Errorf("%s %s prints %q", flag, format, got.out)
			}
			all.WriteString(format + ": " + got.err)
		}
		for _, explicit := range []bool{false, true} {
			c := watched(io.Discard, columns(80))
			name := "terminal: "
			if c.explicit = explicit; explicit {
				c.format, name = formatTable, "table on a terminal: "
			}
			o := &config.Eval{IncludeEvent: flag == "--include-event", ResultTime: flag == "--result-time"}
			all.WriteString(name + newPrinter(c, false).refusal(o).Error() + "\n")
		}
		sluice(t, hit, "engine", "eval", "-r", "r", flag, "--output-format", formatNDJSON).wantCode(t, 0)
		sluice(t, hit, "engine", "eval", "-r", "r", flag+"=false", "--output-format", formatCSV).wantCode(t, 0)
	}
	wantGolden(t, "eval-refused", all.String())
}

// Nobody pays for rows that are not printed: results do not name their events, and
// matches are told no more of than was asked for.
func TestOnlyRowsAskWhereResultsComeFrom(t *testing.T) {
	for _, rowsWanted := range []bool{true, false} {
		c := watched(io.Discard, columns(80))
		c.terminal = rowsWanted
		rules := load.FromBytes("r", []byte(fieldRule), load.Options{})
		set, err := engine.Compile(rules.Rules, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := newEvaluation(&graph.RuleSet{Engine: set}, nil, &format.Decoder{}, newPrinter(c, false), &config.Default().Eval, func(...string) {})
		j := &job{batch: graph.Batch{Set: e.set, Events: new(engine.Events), Lines: []graph.Line{{Raw: []byte(`{"CommandLine":"whoami"}`)}}}, done: make(chan struct{}, 1)}
		work := make(chan *job, 1)
		work <- j
		close(work)
		e.worker(work)
		if got := len(j.batch.EventOf); (got == 1) != rowsWanted {
			t.Errorf("rows %v: %d results name their event", rowsWanted, got)
		}
	}
}
