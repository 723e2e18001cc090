package command

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/correlation"

	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

const loginRules = `title: Login
id: d-login
name: login_seen
level: low
detection: {s: {kind: login}, condition: s}
---
title: Exploit
id: d-exploit
detection: {s: {kind: exploit}, condition: s}
`

// counting is a correlation of logins by user; more is put under its key
// correlation.
func counting(more ...string) string {
	text := "title: Many logins\nid: c-many\nlevel: high\ncorrelation:\n  type: event_count\n  rules: [d-login]\n" +
		"  group-by: [user]\n  timespan: 60s\n  condition: {gte: 3}\n"
	for _, line := range more {
		text += "  " + line + "\n"
	}
	return text
}

// logins are events at the given seconds.
func logins(seconds ...int) string {
	var b strings.Builder
	for _, s := range seconds {
		fmt.Fprintf(&b, `{"kind":"login","user":"ann","@timestamp":%d}`+"\n", s)
	}
	return b.String()
}

// wideUsers are logins of n users with long names.
func wideUsers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"kind\":\"login\",\"user\":\"%s%d\",\"@timestamp\":%d}\n", strings.Repeat("x", 500), i, 50)
	}
	return b.String()
}

func TestEvalCorrelates(t *testing.T) {
	tenUsers := ""
	for i := range 10 {
		tenUsers += fmt.Sprintf(`{"kind":"login","user":"u%d","@timestamp":%d}`+"\n", i, i)
	}
	for _, tc := range []struct {
		name  string
		rules string // beside the detections; counting() when empty
		stdin string
		args  []string
		code  int
		fires []string // aggregated values
		plain int      // detections
		err   []string
	}{
		{
			"the third login within a minute fires, and each after it", "", logins(100, 110, 120, 130), nil, 0,
			[]string{"3", "4"},
			4,
			[]string{"Processed 4 events, 4 detection matches, 2 correlation matches.\n"},
		},
		{"three logins in more than a minute do not fire", "", logins(100, 130, 161), nil, 0, nil, 3, []string{"3 detection matches, 0 correlation matches."}},
		{"a firing suppresses others for a while", "", logins(1000, 1001, 1002, 1003, 1009, 1011, 1012), []string{"--suppress", "10s"}, 0, []string{"3", "7"}, 7, nil},
		{"a firing resets the window", "", logins(1000, 1001, 1002, 1003, 1004, 1005), []string{"--action", "reset"}, 0, []string{"3", "3"}, 6, nil},
		{
			"the action of a rule resets the window", "title: R\ndetection: {s: {kind: none}, condition: s}\nsluice.action: reset\n---\n" + counting(),
			logins(1000, 1001, 1002, 1003, 1004, 1005), nil, 0,
			[]string{"3", "3"},
			6,
			[]string{"sets the default of the whole engine"},
		},
		{
			"a flag wins over a rule", "title: R\ndetection: {s: {kind: none}, condition: s}\nsluice.action: reset\nsluice.suppress: 1h\n---\n" + counting(),
			logins(1000, 1001, 1002, 1003),
			[]string{"--action", "alert", "--suppress", "0s"},
			0,
			[]string{"3", "4"},
			4, nil,
		},
		{"a window keeps so many entries", "", logins(1, 2, 3, 4, 5), []string{"--max-group-entries", "2"}, 0, nil, 5, nil},
		{
			"a firing that is counted", counting() + "---\n" + strings.NewReplacer("c-many", "c-upper", "d-login", "c-many", "gte: 3", "gte: 2").Replace(counting()),
			logins(10, 11, 12, 13), nil, 0,
			[]string{"3", "4", "2"},
			4, nil,
		},
		{
			"the limit on groups", strings.Replace(counting(), "60s", "1h", 1), tenUsers + logins(100),
			[]string{"--max-state-entries", "10"},
			0, nil, 11,
			[]string{"warning: 10 groups of correlations, the limit is 10: 1 evicted"},
		},
		{
			"the limit on bytes", strings.Replace(counting(), "60s", "1h", 1), tenUsers + wideUsers(2000),
			[]string{"--max-state-bytes", "1MiB"},
			0, nil, 2010,
			[]string{"warning: groups of correlations of 10", "bytes, the limit is 1048576: ", "evicted (raise --max-state-bytes or shorten windows)"},
		},
		{
			"references", "", `{"kind":"login","_id":"x1","@timestamp":10}` + "\n" + `{"kind":"login","id":{},"_id":"z","@timestamp":11}` + "\n" + strings.ReplaceAll(logins(12), `"user":"ann",`, ""),
			[]string{"--correlation-event-mode", "references"},
			0,
			[]string{`3,"timespan_secs":60,"event_refs":[{"timestamp":10,"id":"x1"},{"timestamp":11},{"timestamp":12}]`},
			3, nil,
		},
		{
			"events in full", "", logins(10, 11, 12),
			[]string{"--correlation-event-mode", "full", "--max-correlation-events", "1"},
			0,
			[]string{`3,"timespan_secs":60,"events":[{"kind":"login","user":"ann","@timestamp":12}]`},
			3, nil,
		},
		{"detections are withheld", "", logins(1, 2, 3), []string{"--no-detections"}, 0, []string{"3"}, 0, []string{"0 detection matches, 1 correlation match."}},
		{"a correlation asks for them", counting("generate: true"), logins(1, 2, 3), []string{"--no-detections"}, 0, []string{"3"}, 3, nil},
		{"events without a time", "", strings.Repeat(`{"kind":"login"}`+"\n", 3), nil, 0, []string{"3"}, 3, nil},
		{"events without a time are skipped", "", strings.Repeat(`{"kind":"login"}`+"\n", 3), []string{"--timestamp-fallback", "skip"}, 0, nil, 3, nil},
		{"a time under another name", "", strings.ReplaceAll(logins(1, 2, 3), "@timestamp", "when"), []string{"--timestamp-fallback", "skip", "--timestamp-field", "when"}, 0, []string{"3"}, 3, nil},
		{"a correlation is a finding", "", logins(1, 2, 3), []string{"--no-detections", "--fail-on-detection"}, 1, []string{"3"}, 0, nil},
		{"no finding", "", logins(1, 2), []string{"--no-detections", "--fail-on-detection"}, 0, nil, 0, nil},
		{"the time of a result", "", logins(1, 2, 3), []string{"--result-time", "--no-detections"}, 0, []string{"3"}, 0, nil},
		{"nothing to show", "---", "", []string{"--dump-correlation-state"}, 0, nil, 0, []string{"warning: --dump-correlation-state is ignored", "Processed 0 events, 0 matches."}},
		{"a wrong timespan", "", "", []string{"--suppress", "10"}, 3, nil, 0, []string{"--suppress"}},
		{"a wrong event mode", "", "", []string{"--correlation-event-mode", "some"}, 3, nil, 0, []string{"--correlation-event-mode"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			if tc.rules == "" {
				tc.rules = counting()
			}
			write(t, "r/detections.yml", loginRules)
			write(t, "r/rules.yml", tc.rules)
			got := sluice(t, tc.stdin, append([]string{"eval", "-r", "r"}, tc.args...)...)
			got.wantCode(t, tc.code)
			got.wantErr(t, tc.err...)
			var fires []string
			plain := 0
			for line := range strings.Lines(got.out) {
				if _, value, ok := strings.Cut(line, `"aggregated_value":`); ok {
					fires = append(fires, strings.TrimSuffix(strings.TrimSuffix(value, "}\n"), `,"timespan_secs":60`))
				} else {
					plain++
				}
				if strings.Contains(strings.Join(tc.args, " "), "--result-time") && !strings.Contains(line, `"timestamp":"1970-01-01T00:00:03Z"`) {
					t.Errorf("no time in %s", line)
				}
			}
			if fmt.Sprint(fires) != fmt.Sprint(tc.fires) || plain != tc.plain {
				t.Errorf("fires %q and %d detections, want %q and %d:\n%s", fires, plain, tc.fires, tc.plain, got.out)
			}
		})
	}
}

func TestEvalFormatsOfCorrelations(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", loginRules+"---\n"+counting()+"---\n"+strings.NewReplacer(
		"c-many", "c-all", "Many logins", "Logins of all", "  group-by: [user]\n", "", "level: high\n", "").Replace(counting()))
	for _, tc := range []struct {
		golden string
		args   []string
	}{
		{"evalcorrelate-ndjson", nil},
		{"evalcorrelate-pretty", []string{"--pretty"}},
		{"evalcorrelate-table", []string{"--output-format", "table"}},
		{"evalcorrelate-tsv", []string{"--output-format", "tsv"}},
	} {
		got := sluice(t, logins(1, 2, 3, 4), append([]string{"eval", "-r", "r"}, tc.args...)...)
		got.wantCode(t, 0)
		wantGolden(t, tc.golden, got.out)
	}
	got := sluice(t, logins(1, 2, 3), "eval", "-r", "r", "-q", "--dump-correlation-state")
	wantGolden(t, "evalcorrelate-dump", got.err)
}

// manyLogins are rules and events with groups, kinds of windows and late events
// enough to notice a wrong order.
func manyLogins() (rules, events string) {
	rules = loginRules + "---\n" + counting() +
		"---\n" + strings.NewReplacer("c-many", "c-values", "event_count", "value_count", "gte: 3", "gte: 4, field: [src, port]").Replace(counting("window: tumbling")) +
		"---\n" + strings.NewReplacer("c-many", "c-sum", "event_count", "value_sum", "gte: 3", "gt: 5000, field: bytes").Replace(counting("window: session", "gap: 20s")) +
		"---\n" + strings.NewReplacer("c-many", "c-median", "event_count", "value_median", "gte: 3", "gte: 700, field: bytes").Replace(counting()) +
		"---\n" + strings.NewReplacer("c-many", "c-order", "event_count", "temporal_ordered", "[d-login]", "[c-many, d-exploit]", "  condition: {gte: 3}\n", "").Replace(counting()) +
		"sluice.correlation_event_mode: full\n"
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := range sigmatest.Rounds(20_000) {
		kind := "login"
		if r.IntN(10) == 0 {
			kind = "exploit"
		}
		fmt.Fprintf(&b, `{"kind":%q,"user":"u%d","src":"10.0.0.%d","port":%d,"bytes":%d.5,"@timestamp":%d,"pad":"%s"}`+"\n",
			kind, r.IntN(40), r.IntN(200), r.IntN(3), r.IntN(1000), 1_700_000_000+i/10-r.IntN(4), strings.Repeat("x", i%97))
		if i%1000 == 0 {
			b.WriteString("no event\n\n{broken\n")
		}
	}
	return rules, b.String()
}

// Whatever the workers do, the correlations see one event after the other.
func TestEvalCorrelatesAsOneEventAfterTheOther(t *testing.T) {
	inEmptyDir(t)
	rules, events := manyLogins()
	write(t, "r.yml", rules)
	got := sluice(t, events, "eval", "-r", "r.yml")
	got.wantCode(t, 0)
	want := oneByOne(t, rules, events)
	if got.out != want {
		t.Error(difference(got.out, want))
	}
	if n := strings.Count(want, `"correlation_type"`); n < sigmatest.Rounds(10_000) {
		t.Errorf("only %d firings: the test tests nothing", n)
	}
}

// oneByOne evaluates without batches and workers.
func oneByOne(t *testing.T, rules, events string) string {
	t.Helper()
	c := load.FromBytes("r.yml", []byte(rules), load.Options{})
	set, err := engine.Compile(c.Rules, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := correlation.Compile(c.Correlations, c.Rules, correlation.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, x, source := set.NewWorker(), correlation.NewExtractor(p), correlation.NewEventSource(p, set)
	e := correlation.New(p, correlation.Limits{})
	var out []byte
	for line := range strings.Lines(events) {
		var ev engine.Events
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "{") || w.DecodeJSON(&ev, []byte(line)) != nil {
			continue
		}
		var batch result.Batch
		w.Evaluate(&ev, 0, 0, &batch)
		var met []int
		for i := range batch.Len() {
			met = append(met, batch.At(i).Rule.Index)
			out = append(batch.At(i).AppendNative(out, nil), '\n')
		}
		ts, _ := w.Time(&ev, 0)
		source.Open(w, &ev, 0)
		record := x.Append(nil, met, ts, source)
		if len(record) == 0 {
			continue
		}
		results, _, err := e.Process(record, ts, ts, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			out = append(r.AppendNative(out, nil), '\n')
		}
	}
	return string(out)
}

func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: got\n%s\nwant\n%s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("got %d lines, want %d", len(a), len(b))
}

// What cannot be correlated takes the detections of its line along, and nothing
// else.
func TestALineThatCannotBeCorrelatedIsLeftOut(t *testing.T) {
	c := load.FromBytes("r", []byte(loginRules+"---\n"+counting()), load.Options{})
	set, err := engine.Compile(c.Rules, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	program, err := correlation.Compile(c.Correlations, c.Rules, correlation.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	p := newPrinter(&console{Streams: Streams{Out: &out}, format: formatNDJSON}, false)
	e := newEvaluation(&graph.RuleSet{Engine: set, Correlation: program}, nil, new(format.Decoder), p, &config.Default().Eval, func(...string) {})
	j := &job{batch: graph.Batch{Set: e.set, Events: new(engine.Events)}, done: make(chan struct{}, 1)}
	for line := range strings.Lines(logins(1, 2, 3, 4)) {
		j.batch.Lines = append(j.batch.Lines, graph.Line{Raw: []byte(line)})
	}
	work := make(chan *job, 1)
	work <- j
	close(work)
	e.worker(work)
	for i := range j.batch.Matches[1].Record {
		j.batch.Matches[1].Record[i] = 0xff
	}
	if err := e.finish(j); err != nil {
		t.Fatal(err)
	}
	if e.total.failed != 1 || e.total.matches != 3 || e.total.firings != 1 {
		t.Errorf("got %+v, want one failure, three detections and one correlation", e.total)
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(got) != 4 || !strings.Contains(got[3], `"aggregated_value":3`) {
		t.Errorf("want three detections, then the correlation, got\n%s", out.String())
	}
}

// One-shot evaluation and the service must not disagree about correlations
// either.
func TestEvalCorrelatesAsTheDaemonDoes(t *testing.T) {
	inEmptyDir(t)
	rules, events := manyLogins()
	write(t, "r.yml", rules)
	for _, args := range [][]string{
		{"--result-time"},
		{"--no-detections", "--suppress", "30s", "--correlation-event-mode", "refs"},
		{"--action", "reset", "--max-group-entries", "5", "--timestamp-fallback", "skip"},
	} {
		args = append(args, "-r", "r.yml")
		one := sluice(t, events, append([]string{"eval"}, args...)...)
		one.wantCode(t, 0)
		two := sluiceWith(t, Program{Daemon: serve}, events,
			append([]string{"daemon", "--api-addr", "127.0.0.1:0", "--drain-timeout", "600", "--log-level", "error"}, args...)...)
		two.wantCode(t, 0)
		if one.out != two.out {
			t.Errorf("%q: eval is got, the daemon want: %s", args, difference(one.out, two.out))
		}
		if n := strings.Count(one.out, `"correlation_type"`); n < sigmatest.Rounds(500) {
			t.Errorf("%q: only %d firings: the test tests nothing", args, n)
		}
	}
}
