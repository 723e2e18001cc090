package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/filter"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sigma/engine"
)

// decoded is what lines become: for each its events, with their kinds, or what is wrong.
func decoded(tb testing.TB, set *engine.Set, d *format.Decoder, structured bool, line string) string {
	tb.Helper()
	w, ev := set.NewWorker(), new(engine.Events)
	var suspect bool
	var err error
	if structured {
		err = d.Value(w, ev, []byte(line))
	} else {
		suspect, err = d.Decode(w, ev, []byte(line), 0)
	}
	var out []string
	for i := range ev.Len() {
		text := string(ev.AppendJSON(nil, i))
		if k := ev.Kind(i).String(); k != "json" {
			text = k + " " + text
		}
		out = append(out, text)
	}
	if suspect {
		out = append(out, "suspect")
	}
	if err != nil {
		out = append(out, "parse error")
	}
	return strings.Join(out, " | ")
}

func ruleSet(tb testing.TB) *engine.Set {
	tb.Helper()
	set, err := engine.Compile(nil, engine.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

func compile(tb testing.TB, program, query string) *filter.Filter {
	tb.Helper()
	f, err := filter.Compile(program, query)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func TestWhatLinesBecome(t *testing.T) {
	set := ruleSet(t)
	const syslog = `<134>1 2026-03-01T10:20:30Z h1 app - - - {"a":{"b":1}}`
	for _, tc := range []struct {
		name            string
		program, query  string
		f               format.Format
		structured      bool
		line, want, end string
	}{
		{"each output is an event", ".records[]", "", format.JSON, false, `{"records":[{"a":1},{"a":2}]}`, `{"a":1} | {"a":2}`, ""},
		{"null is none", ".event", "", format.JSON, false, `{"x":1}`, "", ""},
		{"no output is none", "empty", "", format.JSON, false, `{"x":1}`, "", ""},
		{"each node is an event", "", "$.r[*].e", format.JSON, false, `{"r":[{"e":{"k":1}},{"z":0},{"e":{"k":2}}]}`, `{"k":1} | {"k":2}`, ""},
		{"a null node is none", "", "$.r[*]", format.JSON, false, `{"r":[null,1]}`, "1", ""},
		{"no node is none", "", "$.q", format.JSON, false, `{"r":1}`, "", ""},
		{"plain lines are left alone", ".x", "", format.Plain, false, `{"x":{"a":1}}`, `plain {"_raw":"{\"x\":{\"a\":1}}"}`, ""},
		{"pairs are left alone", ".x", "", format.Logfmt, false, "x=1", `pairs {"x":"1"}`, ""},
		{"an array without filter is its elements", "", "", format.JSON, false, `[{"a":1},{"a":2},7]`, `{"a":1} | {"a":2} | 7`, ""},
		{"an array is seen whole", ".[]", "", format.JSON, false, `[{"a":1},{"a":2},7]`, `{"a":1} | {"a":2} | 7`, ""},
		{"what is returned is not separated", ".", "", format.JSON, false, `[{"a":1},{"a":2},7]`, `[{"a":1},{"a":2},7]`, ""},
		{"the same by a query", "", "$", format.JSON, false, `[{"a":1}, 7]`, `[{"a":1},7]`, ""},
		{"keys that repeat, without filter", "", "", format.JSON, false, `{"a":"x","a":"y"}`, `{"a":"x","a":"y"}`, ""},
		{"numbers of any length stay where keys repeat", "", "$", format.JSON, false, `{"a":1,"a":` + strings.Repeat("9", 1001) + `}`, `{"a":` + strings.Repeat("9", 1001) + `}`, ""},
		{"numbers of too many digits are doubles", ".", "", format.JSON, false, `{"a":` + strings.Repeat("9", 1001) + `}`, `{"a":1.7976931348623157e+308}`, ""},
		{"of keys that repeat the last counts", ".", "", format.JSON, false, `{"a":"x","a":"y"}`, `{"a":"y"}`, ""},
		{"the same by a query", "", "$", format.JSON, false, `{"b":[{"a":"x","a":"y"}]}`, `{"b":[{"a":"y"}]}`, ""},
		{"each value of a line", ".a", "", format.JSON, false, `{"a":1} {"a":[2,3]}`, "1 | [2,3]", ""},
		{"a bad value refuses the line", ".a", "", format.JSON, false, `{"a":1} x`, "parse error", ""},
		{"a bad value in auto is text", ".a", "", format.Auto, false, `{"a":1} x`, `plain {"_raw":"{\"a\":1} x"} | suspect`, ""},
		{"auto takes no scalars", ".a", "", format.Auto, false, `{"a":1} 7`, `plain {"_raw":"{\"a\":1} 7"} | suspect`, ""},
		{"auto filters JSON", ".a", "", format.Auto, false, `{"a":{"b":1}}`, `{"b":1}`, ""},
		{"a syslog line with a JSON message", "{h: .syslog_hostname, b: .a.b}", "", format.Syslog, false, syslog, `{"b":1,"h":"h1"}`, ""},
		{"the same in auto", "", "$.a", format.Auto, false, syslog, `{"b":1}`, ""},
		{"a syslog line without one is left alone", ".a", "", format.Syslog, false, `<13>Jan  5 03:04:05 gw1 x: y`, `pairs`, ""},
		{"structured lines, whatever the format", ".a", "", format.Plain, true, `{"a":{"b":1}}`, `{"b":1}`, ""},
		{"a structured line that is none", ".a", "", format.Plain, true, `{"a"`, "parse error", ""},
		{"a structured line of two values", ".a", "", format.Plain, true, `{} {}`, "parse error", ""},
		{"what was before an error stands", `.[] | 1 / .`, "", format.JSON, false, `[1,0,2]`, "1", "failed"},
		{"values behind an error go on", `1 / .`, "", format.JSON, false, `1 0 2`, "1 | 0.5", "failed"},
		{"what was before a bound stands", `1, ("a" * 1e9)`, "", format.JSON, false, `0`, "1", "cut: the program needs too much memory"},
		{"a loop ends", `1, (def f: f; f)`, "", format.JSON, false, `0`, "1", "cut: the program takes too many steps"},
		{"a bound ends the line", `., if . == 1 then (def f: f; f) else empty end`, "", format.JSON, false, `0 1 2`, "0 | 1", "cut: the program takes too many steps"},
		{"an event that is too long", `1, ("a" * 2e6)`, "", format.JSON, false, `0`, "1", "cut: an event is longer than 1048576 bytes"},
		{"an event that unfolds", `1, reduce range(40) as $i (1; [., .])`, "", format.JSON, false, `0`, "1", "cut: an event is longer than 1048576 bytes"},
		{"an event that is nested too deep", `1, reduce range(129) as $i (1; [.])`, "", format.JSON, false, `0`, "1", "cut: value is nested deeper than 128"},
		{"the deepest event", `reduce range(128) as $i (1; [.]) | [.. | numbers]`, "", format.JSON, false, `0`, "[1]", ""},
		{"an error with a long value", `1, ("a" * 1e6 | error)`, "", format.JSON, false, `0`, "1", "failed"},
		{"numbers as received", ".n", "", format.JSON, false, `{"n":123456789012345678901234567890.50}`, "123456789012345678901234567890.50", ""},
		{"bytes that are not UTF-8", ".", "", format.JSON, false, "{\"a\":\"\xff\"}", "{\"a\":\"\ufffd\"}", ""},
		{"strings are quoted again", ".", "", format.JSON, false, `{"a\"\u0001":"<\u2028\\>"}`, "{\"a\\\"\\u0001\":\"<\u2028\\\\>\"}", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &format.Decoder{Format: tc.f, Filter: compile(t, tc.program, tc.query)}
			for range 2 { // the second time with the run of the first
				got := decoded(t, set, d, tc.structured, tc.line)
				if got != tc.want && (tc.want != "pairs" || !strings.HasPrefix(got, "pairs ")) {
					t.Errorf("got %s, want %s", got, tc.want)
				}
				if d.Filter == nil {
					return
				}
				var end string
				switch tally := d.Filter.Take(); {
				case tally.Cut > 0:
					end = "cut: " + tally.Bound.Error()
				case tally.Failed > 0 && len(tally.Failure.Error()) < 2e6:
					end = "failed"
				}
				if end != tc.end {
					t.Errorf("ended %q, want %q", end, tc.end)
				}
			}
		})
	}
}

func TestBoundsOfALine(t *testing.T) {
	set := ruleSet(t)
	long := `[` + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("a", 1000)+`",`, 1000), ",") + `]`
	for _, tc := range []struct {
		name, program, query, line string
		want                       error
		events                     int
	}{
		{"events", "range(1e7) | 1", "", `"` + strings.Repeat("a", 1<<20-2) + `"`, filter.ErrEvents, filter.MaxEvents},
		{"bytes of events", "range(100) as $i | .", "", long, filter.ErrBytes, 16},
		{"bytes of nodes", "", "$[" + strings.Repeat("*,", 100) + "*]", long, filter.ErrBytes, filter.MaxBytes / 1002},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, ev := compile(t, tc.program, tc.query), new(engine.Events)
			if err := f.Values(set.NewWorker(), ev, []byte(tc.line), false); err != nil {
				t.Fatal(err)
			}
			if got := f.Take(); got.Cut != 1 || got.Bound != tc.want || ev.Len() != tc.events { //nolint:errorlint // it is this one
				t.Errorf("%d events, %+v, want %d and %v", ev.Len(), got, tc.events, tc.want)
			}
			if again := f.Take(); again != (filter.Tally{}) {
				t.Errorf("taken twice: %+v", again)
			}
		})
	}
}

func TestFaultsOfPrograms(t *testing.T) {
	for _, tc := range []struct{ name, program, query, want string }{
		{"both", ".", "$", "excludes --jsonpath"},
		{"no jq", ".a |", "", "the program ends too early"},
		{"no JSONPath", "", "a", "unexpected identifier at position 1: a query begins with $, such as $.Records[*]"},
	} {
		if _, err := filter.Compile(tc.program, tc.query); err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
	if f, err := filter.Compile("", ""); f != nil || err != nil {
		t.Errorf("got %v, %v, want no filter", f, err)
	}
}

// Any number of lines may be filtered at once.
func TestFiltersAtOnce(t *testing.T) {
	set, f := ruleSet(t), compile(t, ".a + 1", "")
	for range 8 {
		t.Run("one of them", func(t *testing.T) {
			t.Parallel()
			for i := range 200 {
				d := &format.Decoder{Format: format.JSON, Filter: f}
				if got, want := decoded(t, set, d, false, fmt.Sprintf(`{"a":%d}`, i)), fmt.Sprint(i+1); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
}
