package silence

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/native"
	"github.com/sluicehq/sluice/graph/selector"
)

func parseResult(tb testing.TB, line string) *graph.Result {
	tb.Helper()
	r, err := native.Parse([]byte(line))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// detection is a result with these matched fields, enrichments and event, which are JSON.
func detection(tb testing.TB, rule, level, fields, enrichments, event string) *graph.Result {
	tb.Helper()
	if level != "null" {
		level = `"` + level + `"`
	}
	line := `{"rule_title":"T","rule_id":"` + rule + `","level":` + level + `,"tags":[],"enrichments":` + enrichments + `,"matched_selections":["s"],"matched_fields":[` + fields + `]`
	if event != "" {
		line += `,"event":` + event
	}
	return parseResult(tb, line+`}`)
}

func firing(tb testing.TB, rule, key, enrichments string) *graph.Result {
	tb.Helper()
	return parseResult(tb, `{"rule_title":"T","rule_id":"`+rule+`","level":"low","tags":[],"enrichments":`+enrichments+`,"correlation_type":"event_count","group_key":[`+key+`],"aggregated_value":3,"timespan_secs":60}`)
}

// silence is one of the API. Matchers are written "selector op value"; times are 0 for none.
func silence(tb testing.TB, id string, starts, ends int64, matchers ...string) *Silence {
	tb.Helper()
	var s Spec
	for _, m := range matchers {
		parts := strings.SplitN(m, " ", 3)
		s.Matchers = append(s.Matchers, selector.Condition{Selector: parts[0], Op: parts[1], Value: parts[2]})
	}
	x, err := Compile(s, API, 0)
	if err != nil {
		tb.Fatal(err)
	}
	x.ID, x.StartsAt, x.HasStart, x.EndsAt, x.HasEnd = id, starts, starts != 0, ends, ends != 0
	return x
}

func ids(all []*Silence) string {
	var s []string
	for _, x := range all {
		s = append(s, x.ID)
	}
	return strings.Join(s, " ")
}

func TestWhatASilenceMutes(t *testing.T) {
	const port = `{"field":"Port","value":443}`
	results := map[string]*graph.Result{
		"one":      detection(t, "r", "high", `{"field":"SourceIp","value":"10.0.0.5"},`+port, `{"user":null,"risk.score":40,"geo":{"city":"Oslo"}}`, `{"a":{"b":"c"}}`),
		"another":  detection(t, "r2", "null", `{"field":"SourceIp","value":"10.0.0.5x"},{"field":"SourceIp","value":"10.0.0.5"}`, `{"geo":{}}`, ""),
		"a firing": firing(t, "c", `["SourceIp","10.0.0.5"]`, `{"user":"bo"}`),
	}
	for _, tc := range []struct {
		name     string
		matchers string // "; " between them
		want     string
	}{
		{"an expression has to cover the text", `match.SourceIp =~ 10\.0\.0\.\d+`, "one"},
		{"what is absent is not x", `match.Foo != x`, "a firing, another, one"},
		{"a number by its text", `match.Port = 443`, "one"},
		{"null and absent are empty", `enrichment.user = `, "another, one"},
		{"an enrichment with a dot in its name", `enrichment.risk.score =~ .+`, "one"},
		{"an enrichment by its value", `enrichment.geo.city = Oslo`, "one"},
		{"the first field of a name counts", `match.SourceIp = 10.0.0.5`, "one"},
		{"all have to match", `match.SourceIp = 10.0.0.5; rule = r2`, ""},
		{"all match", `level = high; match.Port = 443; rule != x; enrichment.user !~ .+`, "one"},
		{"a level that is absent", `level = `, "another"},
		{"a group key", `correlation.group_key.SourceIp = 10.0.0.5`, "a firing"},
		{"a group key that is absent", `correlation.group_key.SourceIp !~ .+`, "another, one"},
		{"the event", `event.a.b = c`, "one"},
		{"the event is absent", `event.a.b != c`, "a firing, another"},
		{"every rule", `rule =~ .*`, "a firing, another, one"},
		{"one matcher twice", `rule = r; rule = r`, "one"},
		{"two values of one selector", `rule = r; rule = r2`, ""},
	} {
		set := NewSet()
		x := silence(t, "a", 0, 0, strings.Split(tc.matchers, "; ")...)
		set.Add(x)
		var got []string
		for name, r := range results {
			if set.Mutes(r, 5) {
				got = append(got, name)
			}
			if reads := strings.Contains(tc.matchers, "event."); (set.MutesSample(r, 5) != nil) != (set.Mutes(r, 5) && !reads) {
				t.Errorf("%s: %s as a sample", tc.name, name)
			}
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%s: mutes %q, want %q", tc.name, strings.Join(got, ", "), tc.want)
		}
		if !set.Remove("a") || set.Mutes(results["one"], 5) {
			t.Errorf("%s: removed, and it mutes", tc.name)
		}
	}
}

func TestStatesFollowTheTime(t *testing.T) {
	r := detection(t, "r", "high", "", "{}", "")
	for _, tc := range []struct {
		name         string
		starts, ends int64
		states       map[int64]State
	}{
		{"without times", 0, 0, map[int64]State{-5: Active, 0: Active, 1 << 40: Active}},
		{"with a start", 100, 0, map[int64]State{99: Pending, 100: Active, 1 << 40: Active}},
		{"with an end", 0, 100, map[int64]State{-5: Active, 99: Active, 100: Expired, 101: Expired}},
		{"with both", 100, 101, map[int64]State{99: Pending, 100: Active, 101: Expired}},
	} {
		for _, matcher := range []string{"rule = r", "rule =~ r"} {
			x := silence(t, "a", tc.starts, tc.ends, matcher)
			set := NewSet()
			set.Add(x)
			for _, now := range []int64{1 << 40, 101, 100, 99, 0, -5, 0, 99, 100, 101, 1 << 40} { // the clock goes back and forward
				want, listed := tc.states[now]
				if !listed {
					want = x.State(now)
				}
				if got := x.State(now); got != want {
					t.Errorf("%s at %d: %s, want %s", tc.name, now, got, want)
				}
				if got := set.Mutes(r, now); got != (want == Active) {
					t.Errorf("%s at %d: %s, and muted: %v", tc.name, now, want, got)
				}
				if active, total := set.Counts(now); total != 1 || (active == 1) != (want == Active) {
					t.Errorf("%s at %d: %d of %d are active", tc.name, now, active, total)
				}
				if !strings.Contains(string(x.AppendJSON(nil, now)), `"state":"`+string(want)+`"`) {
					t.Errorf("%s at %d: listed as %s", tc.name, now, x.AppendJSON(nil, now))
				}
			}
		}
	}
}

func TestSetsKeepOrderAndOrigins(t *testing.T) {
	r := detection(t, "r", "high", "", "{}", "")
	static := func(id string) *Silence {
		x := silence(t, id, 0, 0, "rule = "+id)
		x.Origin = Static
		return x
	}
	set := NewSet()
	set.Add(silence(t, "z", 0, 50, "rule = r"))
	set.Add(silence(t, "y", 100, 200, "rule = r"))
	set.Replace([]*Silence{static("s2"), static("s1")})
	if got := ids(set.List()); got != "s2 s1 z y" || set.Stored() != 2 {
		t.Errorf("got %s, %d stored, want those of the configuration first", got, set.Stored())
	}
	set.Replace([]*Silence{static("s3"), static("s1")})
	if got := ids(set.List()); got != "s3 s1 z y" {
		t.Errorf("loaded again: got %s", got)
	}
	if x := set.Find("y"); x == nil || x.StartsAt != 100 || set.Find("s2") != nil {
		t.Errorf("found %v and %v", x, set.Find("s2"))
	}
	if !set.Remove("s3") || set.Remove("s3") {
		t.Error("one of the configuration is removed once")
	}
	set.Add(silence(t, "z", 0, 60, "rule = r"))
	if got := ids(set.List()); got != "s1 y z" {
		t.Errorf("an id again: got %s", got)
	}
	if gone := set.Expire(59); gone != nil {
		t.Errorf("at 59 %s expires", ids(gone))
	}
	if !set.Mutes(r, 59) || set.Mutes(r, 60) || set.Stored() != 2 {
		t.Error("until 60 it mutes, and is stored until a tick")
	}
	if gone := set.Expire(60); ids(gone) != "z" || set.Stored() != 1 {
		t.Errorf("at 60 %s expires", ids(gone))
	}
	if gone := set.Expire(60); gone != nil {
		t.Errorf("%s expires again", ids(gone))
	}
	if gone := set.Expire(1000); ids(gone) != "y" {
		t.Errorf("what never mutes expires too: got %s", ids(gone))
	}
	if got := ids(set.List()); got != "s1" {
		t.Errorf("left: %s", got)
	}
	if list := set.List(); len(list) == 1 {
		list[0] = nil
	}
	if set.Find("s1") == nil {
		t.Error("a list is shared with the set")
	}
}

// A silence without end that was stored comes back beside one of the configuration.
func TestStoredSilencesComeBack(t *testing.T) {
	x := silence(t, "a", 0, 0, "rule = r", `match.User =~ (?i)bo.*`)
	x.CreatedBy, x.Comment, x.Created = "ann", "é", 77
	const row = `{"id":"a","matchers":[{"selector":"rule","op":"=","value":"r"},{"selector":"match.User","op":"=~","value":"(?i)bo.*"}],"created_by":"ann","comment":"é","created":77}`
	if got := string(x.Row()); got != row {
		t.Errorf("stored as %s, want %s", got, row)
	}
	timed := silence(t, "b", 5, 9, "rule = r")
	if got, want := string(timed.Row()), `{"id":"b","matchers":[{"selector":"rule","op":"=","value":"r"}],"starts_at":5,"ends_at":9,"created":0}`; got != want {
		t.Errorf("stored as %s, want %s", got, want)
	}
	again, err := FromRow(x.Row())
	if err != nil {
		t.Fatal(err)
	}
	set := NewSet()
	own := silence(t, "own", 0, 0, "rule = other")
	own.Origin = Static
	set.Replace([]*Silence{own})
	set.Add(again)
	if got := ids(set.List()); got != "own a" || again.Origin != API {
		t.Errorf("got %s of %s", got, again.Origin)
	}
	if r := detection(t, "r", "high", `{"field":"User","value":"Bob"}`, "{}", ""); !set.Mutes(r, 0) {
		t.Error("it does not mute")
	}
	for _, tc := range []struct{ name, row, want string }{
		{"an expression that is refused", `{"id":"a","matchers":[{"selector":"rule","op":"=~","value":"("}],"created":1}`, "the stored silence 'a' cannot be used: matchers[0]: matcher of 'rule': expression '(' cannot be used: error parsing regexp: missing closing ): `(`"},
		{"a selector that is gone", `{"id":"a","matchers":[{"selector":"gone.x","op":"=","value":"x"}],"created":1}`, "the stored silence 'a' cannot be used: matchers[0]: unknown selector 'gone.x' (rule, level, event.<path>, match.<field>, enrichment.<path>, correlation.group_key.<field>)"},
		{"no matchers", `{"id":"a","matchers":[],"created":1}`, "the stored silence 'a' cannot be used: matchers: a silence needs at least one"},
		{"an end in front of its start", `{"id":"a","matchers":[{"selector":"rule","op":"=","value":"x"}],"starts_at":5,"ends_at":5,"created":1}`, "the stored silence 'a' cannot be used: it ends before it starts"},
		{"a time beyond all", `{"id":"a","matchers":[{"selector":"rule","op":"=","value":"x"}],"ends_at":253402300800,"created":1}`, "the stored silence 'a' cannot be used: the second 253402300800 lies outside the years 0000 to 9999"},
		{"no id", `{"matchers":[],"created":1}`, "a stored silence cannot be read: it has no id"},
		{"a member that is not known", `{"id":"a","colour":1}`, `a stored silence cannot be read: json: unknown field "colour"`},
		{"half a row", `{"id":"a"`, "a stored silence cannot be read: unexpected EOF"},
		{"two rows", row + row, "a stored silence cannot be read: something stands behind it"},
	} {
		if _, err := FromRow([]byte(tc.row)); text(err) != tc.want {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}

// Silences that come and go leave nothing behind, in whatever order.
func TestSilencesLeaveNothingBehind(t *testing.T) {
	set := NewSet()
	set.Add(silence(t, "kept", 0, 1<<40, "rule = kept"))
	for i := range 2000 {
		id := fmt.Sprint(i)
		set.Add(silence(t, id, int64(1000+i), 1<<39+int64(i), "match.F"+id+" = "+id, "enrichment."+id+".a =~ a", "event.x != "+id))
		set.Add(silence(t, "e"+id, 0, 0, "enrichment.a."+id+" = a", "correlation.group_key."+id+" = a"))
		set.Add(silence(t, "g"+id, 0, 0, "correlation.group_key."+id+" = b"))
		set.Add(silence(t, "x"+id, 0, 0, "event."+id+" = b"))
		set.Add(silence(t, "l"+id, 0, 0, "level = "+id))
		if i%2 == 0 {
			set.Mutes(detection(t, "r", "low", "", "{}", ""), int64(1000+i))
		}
		for _, prefix := range []string{"", "e", "g", "x", "l"} {
			set.Remove(prefix + id)
		}
	}
	if a, b := set.starts.Len(), set.ends.Len(); a > 100 || b > 100 {
		t.Errorf("the queues hold %d and %d silences", a, b)
	}
	x := &set.index
	if len(x.columns) != 1 || len(x.probes) != 1 || len(x.fields)+len(x.groups)+len(x.enrichments.all)+len(x.enrichments.keys)+len(x.events)+len(x.scanned) != 0 || len(x.plain) != 1 {
		t.Errorf("the index holds %d columns and %d matchers", len(x.columns), len(x.probes))
	}
}
