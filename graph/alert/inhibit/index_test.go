package inhibit

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/native"
	"github.com/sluicehq/sluice/graph/selector"
)

// result is a detection of a level, with matched fields written "name=value".
func result(tb testing.TB, level string, fields ...string) *graph.Result {
	tb.Helper()
	var list []string
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		quoted, err := json.Marshal(value)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, `{"field":"`+name+`","value":`+string(quoted)+`}`)
	}
	return parse(tb, `{"rule_title":"T","rule_id":"rule-ssh","level":"`+level+`","tags":[],"matched_selections":["s"],"matched_fields":[`+strings.Join(list, ",")+`]}`)
}

func parse(tb testing.TB, line string) *graph.Result {
	tb.Helper()
	r, err := native.Parse([]byte(line))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// rule is a rule; matchers are written "selector op value", with "; " between them, and the
// selectors of equal with blanks between them.
func rule(tb testing.TB, name, source, target, equal string, duration int64) Rule {
	tb.Helper()
	compile := func(text string) selector.Matchers {
		var all []selector.Condition
		for m := range strings.SplitSeq(text, "; ") {
			parts := strings.SplitN(m, " ", 3)
			all = append(all, selector.Condition{Selector: parts[0], Op: parts[1], Value: parts[2]})
		}
		set, err := selector.CompileAll(all)
		if err != nil {
			tb.Fatal(err)
		}
		return set
	}
	r := Rule{Name: name, Source: compile(source), Target: compile(target), Duration: duration}
	for _, text := range strings.Fields(equal) {
		s, err := selector.Parse(text)
		if err != nil {
			tb.Fatal(err)
		}
		r.Equal = append(r.Equal, s)
	}
	return r
}

func index(rules ...Rule) *Index {
	x := New()
	x.Configure(rules)
	return x
}

// process does with a result what becomes of it: what is not inhibited may become a source.
func process(x *Index, r *graph.Result, now int64) string {
	if rule, is := x.Inhibits(r, now); is {
		return rule
	}
	x.Observe(r, now)
	return "passes"
}

func TestTimelines(t *testing.T) {
	const critical, high, low = "level = critical", "level = high", "level = low"
	type arrival struct {
		at     int64
		level  string
		fields string
		want   string
	}
	for _, tc := range []struct {
		name     string
		rules    []Rule
		arrivals []arrival
	}{
		{"critical inhibits high of one address for five minutes", []Rule{rule(t, "i", critical, high, "match.SourceIp", 300)}, []arrival{
			{0, "critical", "SourceIp=.1", "passes"},
			{1, "high", "SourceIp=.1", "i"},
			{2, "high", "SourceIp=.2", "passes"},
			{299, "high", "SourceIp=.1", "i"},
			{300, "high", "SourceIp=.1", "passes"},
		}},
		{"a source of a rule is never inhibited by it", []Rule{rule(t, "i", high, high, "", 300)}, []arrival{
			{0, "high", "", "passes"},
			{1, "high", "", "passes"},
		}},
		{"what is inhibited inhibits nothing", []Rule{rule(t, "1", critical, high, "", 300), rule(t, "2", high, low, "", 300)}, []arrival{
			{0, "critical", "", "passes"},
			{1, "high", "", "1"},
			{2, "low", "", "passes"},
		}},
		{"a source of one rule may be the target of another", []Rule{rule(t, "1", "level =~ critical|high", "level != x", "", 300), rule(t, "2", critical, high, "", 300)}, []arrival{
			{0, "critical", "", "passes"},
			{1, "high", "", "2"},
			{2, "low", "", "1"},
		}},
		{"the first rule of the file is the one that is told", []Rule{rule(t, "b", critical, low, "", 300), rule(t, "a", critical, low, "", 300)}, []arrival{
			{0, "critical", "", "passes"},
			{1, "low", "", "b"},
		}},
		{"a target in front of its source passes", []Rule{rule(t, "i", critical, high, "", 300)}, []arrival{
			{0, "high", "", "passes"},
			{0, "critical", "", "passes"},
			{0, "high", "", "i"},
		}},
		{"each source extends the time", []Rule{rule(t, "i", critical, high, "", 10)}, []arrival{
			{0, "critical", "", "passes"},
			{9, "critical", "", "passes"},
			{18, "high", "", "i"},
			{19, "high", "", "passes"},
		}},
		{"without equal any source inhibits every target", []Rule{rule(t, "i", critical, high, "", 10)}, []arrival{
			{0, "critical", "SourceIp=.1", "passes"},
			{1, "high", "SourceIp=.2", "i"},
		}},
		{"what is absent on both sides is equal", []Rule{rule(t, "i", critical, high, "match.User match.SourceIp", 10)}, []arrival{
			{0, "critical", "SourceIp=.1", "passes"},
			{1, "high", "SourceIp=.1", "i"},
			{2, "high", "SourceIp=.1 User=bo", "passes"},
			{3, "high", "SourceIp=.1 User=", "i"},
		}},
		{"values do not run into each other", []Rule{rule(t, "i", critical, high, "match.A match.B", 10)}, []arrival{
			{0, "critical", "A=x\x1fy B=z", "passes"},
			{1, "high", "A=x B=y\x1fz", "passes"},
			{2, "high", "A=x\x1esy B=z", "passes"},
			{3, "high", "A=x\x1fy B=z", "i"},
		}},
		{"a duration of nothing inhibits nothing", []Rule{rule(t, "i", critical, high, "", 0)}, []arrival{
			{0, "critical", "", "passes"},
			{0, "high", "", "passes"},
		}},
		{"the clock goes back by a day", []Rule{rule(t, "i", critical, high, "match.A", 300)}, []arrival{
			{86_400, "critical", "A=1", "passes"},
			{0, "high", "A=1", "i"}, // seen less than 300 s ago, counted from now
			{10, "critical", "A=2", "passes"},
			{309, "high", "A=2", "i"},
			{310, "high", "A=2", "passes"},
			{400, "critical", "A=1", "passes"}, // seen anew: from here the time runs as ever
			{700, "high", "A=1", "passes"},
		}},
		{"the clock goes forward by a day", []Rule{rule(t, "i", critical, high, "match.A", 300)}, []arrival{
			{0, "critical", "A=1", "passes"},
			{86_400, "high", "A=1", "passes"},
			{86_401, "critical", "A=1", "passes"},
			{86_402, "high", "A=1", "i"},
		}},
	} {
		for _, ticks := range []bool{false, true} {
			x := index(tc.rules...)
			for _, a := range tc.arrivals {
				if got := process(x, result(t, a.level, strings.Fields(a.fields)...), a.at); got != a.want {
					t.Errorf("%s, ticks %v: %s of %q at %d: got %s, want %s", tc.name, ticks, a.level, a.fields, a.at, got, a.want)
				}
				if ticks {
					x.Expire(a.at)
				}
			}
			if x.Rules() != len(tc.rules) {
				t.Errorf("%s: %d rules", tc.name, x.Rules())
			}
			x.Expire(200_000)
			if x.Len() != 0 || len(x.Sources()) != 0 {
				t.Errorf("%s: %d sources stay for ever", tc.name, x.Len())
			}
		}
	}
}

func TestSourcesThatHaveOutlivedTheirRuleGo(t *testing.T) {
	x := index(rule(t, "short", "level = critical", "level = high", "match.A", 10), rule(t, "long", "level = critical", "level = high", "match.A", 100))
	for i := range int64(5) {
		process(x, result(t, "critical", fmt.Sprint("A=", i)), i)
	}
	process(x, result(t, "critical", "A=0"), 7)
	for _, tc := range []struct {
		now  int64
		want int
	}{{9, 10}, {10, 10}, {11, 9}, {13, 7}, {16, 6}, {17, 5}, {100, 5}, {101, 4}, {104, 1}, {106, 1}, {107, 0}} {
		if x.Expire(tc.now); x.Len() != tc.want || len(x.Sources()) != tc.want {
			t.Errorf("at %d: %d sources, want %d", tc.now, x.Len(), tc.want)
		}
	}
}

// The clock goes to and fro by a day; what is due in the end goes, and nothing piles up.
func TestClocksThatJumpLeaveNothingBehind(t *testing.T) {
	x := index(rule(t, "i", "level = critical", "level = high", "match.A", 300))
	const day = 86_400
	for i := range int64(2000) {
		now := i%300 + []int64{0, day, -day}[i%3]
		process(x, result(t, "critical", fmt.Sprint("A=", i%7)), now)
		if i%5 == 0 {
			x.Expire(now)
		}
	}
	if n := x.due.Len(); n > 2*7+64 {
		t.Errorf("the queue holds %d entries of 7 sources", n)
	}
	x.Expire(day + 300 + 300)
	if x.Len() != 0 || x.bytes != 0 {
		t.Errorf("%d sources of %d bytes stay for ever", x.Len(), x.bytes)
	}
}

func TestSamplesAreNotTestedByRulesThatReadEvents(t *testing.T) {
	high := result(t, "high")
	for _, tc := range []struct {
		name string
		rule Rule
		want bool
	}{
		{"a rule that reads no event", rule(t, "i", "level = critical", "level = high", "match.A", 10), true},
		{"the target reads it", rule(t, "i", "level = critical", "level = high; event.a != x", "", 10), false},
		{"the source reads it", rule(t, "i", "level = critical; event.a != x", "level = high", "", 10), false},
		{"equal reads it", rule(t, "i", "level = critical", "level = high", "match.A event.a", 10), false},
	} {
		x := index(tc.rule)
		process(x, result(t, "critical"), 0)
		if _, is := x.Inhibits(high, 5); !is {
			t.Errorf("%s: the result passes", tc.name)
		}
		if until, got := x.InhibitsSample(high, 5); got != tc.want || got && until != 10 {
			t.Errorf("%s: the sample is inhibited: %v, until %d", tc.name, got, until)
		}
		if _, is := x.InhibitsSample(high, 10); is {
			t.Errorf("%s: the sample is inhibited for ever", tc.name)
		}
	}
}

func TestRulesAreConfiguredAnew(t *testing.T) {
	one := rule(t, "one", "level = critical", "level = high", "", 100)
	two := rule(t, "two", "level = critical", "level = low", "", 100)
	x := index(one, two)
	process(x, result(t, "critical"), 0)
	if x.Len() != 2 {
		t.Fatalf("%d sources", x.Len())
	}

	longer := one
	longer.Duration = 200
	x.Configure([]Rule{longer})
	if x.Len() != 2 {
		t.Errorf("in front of the tick %d sources are left", x.Len())
	}
	if got := process(x, result(t, "low"), 1); got != "passes" {
		t.Errorf("a rule that is gone inhibits: %s", got)
	}
	x.Expire(1)
	if got := x.Sources(); len(got) != 1 || got[0].Rule != "one" {
		t.Errorf("behind the tick %v are left", got)
	}
	if got := process(x, result(t, "high"), 150); got != "one" {
		t.Errorf("the source has not stayed: %s", got)
	}
	if x.Expire(199); x.Len() != 1 {
		t.Error("the new duration does not count")
	}

	shorter := one
	shorter.Duration = 10
	x.Configure([]Rule{shorter, two})
	if got := process(x, result(t, "high"), 11); got != "passes" {
		t.Errorf("the new duration does not count: %s", got)
	}
	if x.Expire(11); x.Len() != 0 {
		t.Errorf("%d sources stay", x.Len())
	}

	process(x, result(t, "critical"), 20)
	x.Configure(nil)
	x.Configure([]Rule{one})
	if got := process(x, result(t, "high"), 21); got != "one" {
		t.Errorf("a rule that came back in front of the tick has lost its source: %s", got)
	}
	x.Configure(nil)
	if x.Expire(22); x.Len() != 0 || len(x.tables) != 0 || x.Rules() != 0 {
		t.Errorf("without rules %d sources stay", x.Len())
	}
}

func TestSourcesAreSavedAndRestored(t *testing.T) {
	rules := []Rule{
		rule(t, "b", "level = critical", "level = high", "match.A rule", 100), rule(t, "a", "level =~ .*", "level = low", "", 50),
		rule(t, "gone", "level = critical", "level = high", "", 100),
	}
	x := index(rules...)
	process(x, result(t, "critical", "A=2"), 10)
	process(x, result(t, "critical", "A=1"), 20)
	process(x, result(t, "high", "A=9"), 5)
	saved, err := json.Marshal(x.Sources())
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"rule":"a","equal_key":"","last_seen":20},{"rule":"b","equal_key":"\u001f1\u001frule-ssh","last_seen":20},` +
		`{"rule":"b","equal_key":"\u001f2\u001frule-ssh","last_seen":10},{"rule":"gone","equal_key":"","last_seen":20}]`
	if got := strings.Replace(string(saved), `"last_seen":5`, `"last_seen":20`, 1); got != want {
		t.Errorf("saved as\n%s, want\n%s", got, want)
	}
	view := x.Export()
	process(x, result(t, "critical", "A=7"), 90)
	x.Expire(500)
	if got := view.Sources(); view.Len() != 4 || len(got) != 4 || got[2].LastSeen != 10 {
		t.Errorf("a view has changed to %v", got)
	}
	var sources []Source
	if err := json.Unmarshal([]byte(want), &sources); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name    string
		now     int64
		dropped int
		left    string
	}{
		{"at once", 20, 1, "a: 20, b:\x1f1\x1frule-ssh 20, b:\x1f2\x1frule-ssh 10"},
		{"when one has outlived its rule", 70, 2, "b:\x1f1\x1frule-ssh 20, b:\x1f2\x1frule-ssh 10"},
		{"later", 110, 3, "b:\x1f1\x1frule-ssh 20"},
		{"too late", 120, 4, ""},
		{"with a clock that is behind", -5, 1, "a: 20, b:\x1f1\x1frule-ssh 20, b:\x1f2\x1frule-ssh 10"},
	} {
		again := index(rules[:2]...)
		if got := again.Restore(sources, tc.now); got != tc.dropped {
			t.Errorf("%s: %d dropped, want %d", tc.name, got, tc.dropped)
		}
		var left []string
		for _, s := range again.Sources() {
			left = append(left, fmt.Sprintf("%s:%s %d", s.Rule, s.EqualKey, s.LastSeen))
		}
		if got := strings.Join(left, ", "); got != tc.left || again.Len() != len(left) {
			t.Errorf("%s: left %q, want %q", tc.name, got, tc.left)
		}
		again.Expire(120)
		if again.Len() != 0 {
			t.Errorf("%s: %d stay for ever", tc.name, again.Len())
		}
	}
	again := index(rules...)
	if again.Restore(sources, 20); !slices.Equal(again.Sources(), sources) {
		t.Errorf("saved again: %v", again.Sources())
	}
	if got := process(again, result(t, "high", "A=1"), 119); got != "b" {
		t.Errorf("restored, and high %s", got)
	}
}

func TestTheSourcesAreBounded(t *testing.T) {
	const most = 1000
	x := index(rule(t, "i", "level = critical", "level = high", "match.A", math.MaxInt64))
	if x.limits != (limits{100_000, 64 << 20}) {
		t.Errorf("%v are the limits", x.limits)
	}
	x.limits.sources = most
	var all []Source
	for i := range most + 3 {
		all = append(all, Source{"i", fmt.Sprintf("\x1f%d", i), int64(i)})
	}
	slices.Reverse(all)
	x.Restore(all[3:], most)
	if x.Len() != most || x.Evicted() != 0 {
		t.Fatalf("%d sources, %d evicted", x.Len(), x.Evicted())
	}
	process(x, result(t, "critical", "A=0"), most) // the oldest is seen again
	process(x, result(t, "critical", "A=new"), most)
	if x.Len() != most || x.Evicted() != 1 {
		t.Errorf("%d sources, %d evicted", x.Len(), x.Evicted())
	}
	for value, want := range map[string]string{"A=0": "i", "A=1": "passes", "A=2": "i", "A=new": "i"} {
		if got := process(x, result(t, "high", value), most); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
	for i := range 20 * most {
		x.see(x.tables["i"], fmt.Appendf(nil, "more %d", i), most)
	}
	if n := x.due.Len(); x.Len() != most || n > 2*most+64 {
		t.Errorf("%d sources, %d entries in the queue", x.Len(), n)
	}
}

func TestTheKeysOfSourcesAreBounded(t *testing.T) {
	x := index(rule(t, "i", "level = critical", "level = high", "match.A", 100))
	x.limits.bytes = 10 << 10
	long := strings.Repeat("x", 1000)
	for i := range 100 {
		process(x, result(t, "critical", fmt.Sprint("A=", i, long)), 0)
	}
	if x.Len() != 10 || x.Evicted() != 90 {
		t.Errorf("%d sources of 1,000 bytes, %d evicted", x.Len(), x.Evicted())
	}
	if got := process(x, result(t, "high", "A=99"+long), 1); got != "i" {
		t.Errorf("the newest is not there: %s", got)
	}
	process(x, result(t, "critical", "A="+strings.Repeat("y", maxScratch+1)), 0)
	if x.Len() != 1 || x.Evicted() != 100 {
		t.Errorf("%d sources, want the one that is larger than all may be", x.Len())
	}
	if x.Expire(1); cap(x.scratch) > maxScratch {
		t.Errorf("%d bytes are kept for texts", cap(x.scratch))
	}
}
