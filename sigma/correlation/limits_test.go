package correlation_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

func TestExpiry(t *testing.T) {
	for _, tc := range []struct {
		name   string
		rule   string
		events []input
		wait   int64
		want   int // groups left
	}{
		{"a group stays until its horizon has passed", body(count3), at(100), 60, 1},
		{"it goes a second later, when the stream has passed it, too", body(count3), at(100), 61, 0},
		{"a session has its gap as horizon", body(count3 + "\nwindow: session\ngap: 5s"), at(100), 6, 0},
		{"a group from the future waits for the stream to get there", body(count3), at(100, 100+25*3600), 61, 1},
		{"a group emptied by an action goes like others", body("type: event_count\ncondition: {gte: 1}\nsluice.action: reset"), at(100), 61, 0},
		{"a group fed in an old replay is kept for its horizon by the wall", body(count3), []input{with(100, `"user":"a"`), with(50_000, `"user":"b"`)}, 59, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, compile(t, tc.rule, program.Options{}), 0)
			d.run(tc.events)
			for range tc.wait {
				d.now++
				d.engine.Advance(d.now)
			}
			if got := d.engine.Groups(); got != tc.want {
				t.Errorf("after %d s: got %d groups, want %d", tc.wait, got, tc.want)
			}
		})
	}
}

func TestSuppressionOutlivesItsGroup(t *testing.T) {
	rule := body("type: event_count\ncondition: {gte: 1}\ntimespan: 10s\nsluice.suppress: 100s")
	d := newDriver(t, compile(t, rule, program.Options{}), 0)
	wantFires(t, d.run(at(1000)), []string{"1@1000"})
	d.now += 50
	d.engine.Advance(d.now)
	if d.engine.Groups() != 0 {
		t.Fatalf("got %d groups, want the group to be gone", d.engine.Groups())
	}
	d.restart(d.engine.Program())
	wantFires(t, d.run(at(1060, 1099)), nil)
	wantFires(t, d.run(at(1100)), []string{"2@1100"})
	if d.outcome.Suppressed != 2 {
		t.Errorf("got %d suppressed, want 2", d.outcome.Suppressed)
	}
}

// A save is written again only when the revision is another.
func TestTheEndOfASuppressionIsAChange(t *testing.T) {
	rule := body("type: event_count\ncondition: {gte: 1}\ntimespan: 10s\nsluice.suppress: 100s")
	d := newDriver(t, compile(t, rule, program.Options{}), 0)
	d.run(at(1000))
	d.wait(99)
	before := d.engine.Revision()
	d.wait(1)
	if d.engine.Revision() == before {
		t.Error("the revision is the same")
	}
}

func TestSuppressionTimesWithoutAGroupAreNotMoreThanGroupsMayBe(t *testing.T) {
	const limit, users = 20, 500
	rule := body("type: event_count\ncondition: {gte: 1}\ntimespan: 10s\nsluice.suppress: 1h")
	d := newDriver(t, compile(t, rule, program.Options{}), limit)
	user := func(i int) input { return with(int64(1000+i), fmt.Sprintf(`"user":"u%d"`, i)) }
	for i := range users {
		d.now++
		if got := len(d.run([]input{user(i)})); got != 1 {
			t.Fatalf("user %d: got %d results, want 1", i, got)
		}
		d.outcome.Forgotten += d.engine.Advance(d.now).Forgotten
	}
	if kept := users - d.outcome.Forgotten - d.engine.Groups(); kept > limit || kept < limit/2 {
		t.Errorf("got %d suppression times without a group, want nine tenths of %d at least and no more", kept, limit)
	}
	newest := user(users - 15)
	newest.ts = 1000 + users
	if got := d.run([]input{newest}); len(got) != 0 {
		t.Errorf("one of the newest is not suppressed: %v", got)
	}
	oldest := user(0)
	oldest.ts = 1000 + users
	if got := d.run([]input{oldest}); len(got) != 1 {
		t.Errorf("the oldest is suppressed for ever: %v", got)
	}
}

func TestSuppressionOutlivesItsGroupAndAnotherMemberList(t *testing.T) {
	rule := func(members string) *program.Program {
		return compile(t, body("type: temporal\nrules: "+members+"\ncondition: {gte: 1}\ntimespan: 10s\nsluice.suppress: 100s"), program.Options{})
	}
	d := newDriver(t, rule("[d-login]"), 0)
	wantFires(t, d.run(at(1000)), []string{"1@1000"})
	for range 2 { // a tombstone of before, and one made after the reload
		d.now += 35
		d.engine.Advance(d.now)
		after := rule("[d-login, d-recon]")
		d.engine.Swap(after, d.now)
		d.use(after)
		if d.restart(after); d.engine.Groups() != 0 {
			t.Fatalf("got %d groups, want the group to be gone", d.engine.Groups())
		}
		wantFires(t, d.run(at(1020)), nil)
	}
	wantFires(t, d.run(at(1100)), []string{"1@1100"})
}

func TestTheCapForgetsWhatIsOverFirst(t *testing.T) {
	d := newDriver(t, compile(t, body(count3+"\ntimespan: 10s"), program.Options{}), 4)
	for i, ts := range []int64{1, 2, 100, 101} {
		d.feed(with(ts, fmt.Sprintf(`"user":"u%d"`, i)))
	}
	d.feed(with(102, `"user":"u4"`))
	if d.outcome.Evicted != 0 || d.outcome.Expired != 2 || d.engine.Groups() != 3 {
		t.Errorf("got %+v and %d groups, want 2 expired and 3 groups", d.outcome, d.engine.Groups())
	}
}

// At the cap a window lets go of what is too old by the stream clock, and with it of
// the events that contributed: whoever looks, and whatever comes in between.
func TestWhatTheCapTrimsIsGoneEverywhere(t *testing.T) {
	rule := body("type: event_count\ncondition: {gte: 2}\ntimespan: 10s\nsluice.correlation_event_mode: refs")
	crowded := func() *driver {
		d := newDriver(t, compile(t, rule, program.Options{}), 4)
		d.run([]input{user(80, "over"), user(90, "ann"), user(95, "ann"), user(100, "b"), user(103, "c")})
		d.run([]input{user(103, "c")})
		if d.outcome.Expired != 1 || d.outcome.Evicted != 0 {
			t.Fatalf("got %+v, want one group expired", d.outcome)
		}
		return d
	}
	late := user(96, "ann")
	t.Run("in a result", func(t *testing.T) {
		wantRefs(t, crowded().feed(late), 95, 96)
	})
	t.Run("in a result after a restart", func(t *testing.T) {
		d := crowded()
		d.restart(d.engine.Program())
		wantRefs(t, d.feed(late), 95, 96)
	})
	t.Run("when the state is looked at", func(t *testing.T) {
		d := crowded()
		view := d.engine.Export()
		groups, _ := view.State(correlation.Filter{Group: "ann"})
		if g := groups[0]; g.Entries != 1 || *g.Got != 1 || g.Met || *g.Earliest != 95 || *g.SecondsToEviction != 10 {
			t.Errorf("got %s, want the entry of second 95 alone", mustJSON(t, g))
		}
		wantRefs(t, d.feed(late), 95, 96)
		if groups, _ := view.State(correlation.Filter{Group: "ann"}); groups[0].Entries != 1 {
			t.Errorf("got %d entries in the view later, want 1", groups[0].Entries)
		}
	})
}

// wantRefs wants one result that refers to events of these seconds.
func wantRefs(t *testing.T, results []*correlation.Result, want ...int64) {
	t.Helper()
	if len(results) != 1 {
		t.Fatalf("got %d results, want 1", len(results))
	}
	var got []int64
	for _, r := range results[0].Refs {
		got = append(got, r.Time)
	}
	if !slices.Equal(got, want) || results[0].Value != float64(len(want)) {
		t.Errorf("got %v of events at %v, want those at %v", results[0].Value, got, want)
	}
}

func TestWhatIsJustNotOverIsEvictedAndNotExpired(t *testing.T) {
	d := newDriver(t, compile(t, body(count3+"\ntimespan: 10s"), program.Options{}), 3)
	d.run([]input{user(92, "a"), user(100, "b"), user(102, "c"), user(102, "d")})
	if d.outcome.Evicted != 1 || d.outcome.Expired != 0 || d.engine.Groups() != 3 {
		t.Errorf("got %+v and %d groups, want 1 evicted and 3 groups", d.outcome, d.engine.Groups())
	}
}

// The hits of a member that a reload removed keep no group.
func TestTheStalestIsToldByTheMembersThereAre(t *testing.T) {
	rule := func(members string) *program.Program {
		return compile(t, body("type: temporal\nrules: "+members+"\ntimespan: 1h"), program.Options{})
	}
	hit := func(ts int64, kind, name string) input {
		return with(ts, fmt.Sprintf(`"kind":%q,"user":%q`, kind, name))
	}
	d := newDriver(t, rule("[d-recon, d-exploit, d-login]"), 2)
	d.run([]input{hit(100, "recon", "a"), hit(50, "exploit", "a"), hit(40, "exploit", "over"), hit(100, "login", "a")})
	after := rule("[d-exploit]")
	d.engine.Swap(after, d.now)
	d.use(after)
	d.run([]input{hit(60, "exploit", "b"), hit(100, "exploit", "c")})
	var got []string
	groups, _ := d.engine.Export().State(correlation.Filter{})
	for _, g := range groups {
		got = append(got, g.GroupKeyDisplay)
	}
	if !slices.Equal(got, []string{"user=b", "user=c"}) {
		t.Errorf("got the groups %q, want b and c", got)
	}
}

func TestGroupsExpireByTheTimespanOfTheLastReload(t *testing.T) {
	for _, tc := range []struct {
		name, before, after string
		wait                int64
		want                int
	}{
		{"a shorter one", "60s", "10s", 11, 0},
		{"a longer one", "10s", "60s", 11, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, compile(t, body(count3+"\ntimespan: "+tc.before), program.Options{}), 0)
			d.run(at(100))
			d.engine.Swap(compile(t, body(count3+"\ntimespan: "+tc.after), program.Options{}), d.now)
			if d.wait(tc.wait); d.engine.Groups() != tc.want {
				t.Errorf("got %d groups after %d s, want %d", d.engine.Groups(), tc.wait, tc.want)
			}
		})
	}
}

func TestACapThatWasLoweredCutsAtRestore(t *testing.T) {
	p := compile(t, body(count3), program.Options{})
	d := newDriver(t, p, 0)
	for i := range 40 {
		d.feed(with(int64(i), fmt.Sprintf(`"user":"u%02d"`, i)))
	}
	lower := newDriver(t, p, 20)
	view := d.engine.Export()
	pr := &pipe{}
	if err := view.Encode(pr, d.now); err != nil {
		t.Fatal(err)
	}
	r, err := lower.engine.Restore(pr, d.now)
	if err != nil || r.Groups != 18 || r.Evicted != 22 {
		t.Errorf("got %+v, %v, want 18 groups, 22 evicted", r, err)
	}
}

// pipe gives back what was written, in small pieces.
type pipe struct{ buf []byte }

func (p *pipe) Write(b []byte) (int, error) { p.buf = append(p.buf, b...); return len(b), nil }

func (p *pipe) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), 3)], p.buf)
	p.buf = p.buf[n:]
	if n == 0 {
		return 0, errEnd
	}
	return n, nil
}

var errEnd = fmt.Errorf("end")

func TestChains(t *testing.T) {
	t.Run("ten levels are followed, then it is counted", func(t *testing.T) {
		text := named("c0", "type: event_count\ncondition: {gte: 1}")
		for i := 1; i <= 12; i++ {
			text += "---\n" + named(fmt.Sprint("c", i), fmt.Sprintf("type: event_count\nrules: [c%d]\ncondition: {gte: 1}", i-1))
		}
		p := compile(t, text, program.Options{})
		d := newDriver(t, p, 0)
		got := d.run(at(1))
		if len(got) != 11 || d.outcome.Truncated != 1 || p.Depth() != 12 {
			t.Errorf("got %d firings, %d truncated, depth %d, want 11, 1 and 12", len(got), d.outcome.Truncated, p.Depth())
		}
	})
	lower := named("lower", "type: value_count\ncondition: {field: src, gte: 1}")
	for _, tc := range []struct {
		name, upper string
		events      []input
		want        []string
	}{
		{
			"group fields the lower one lacks come from the event",
			"type: event_count\nrules: [lower]\ngroup-by: [host]\ncondition: {gte: 2}",
			[]input{with(1, `"src":1,"host":"h"`), with(2, `"src":1,"host":"h"`)},
			[]string{"lower 1@1", "lower 1@2", "c 2@2 [{host h}]"},
		},
		{
			"aliases name the lower rule",
			"type: event_count\nrules: [lower]\ngroup-by: [ip]\naliases: {ip: {lower: src}}\ncondition: {gte: 2}",
			[]input{with(1, `"src":"x"`), with(2, `"src":"x"`)},
			[]string{"lower 1@1", "lower 1@2", "c 2@2 [{ip x}]"},
		},
		{
			"values come from the lower group first",
			"type: value_count\nrules: [lower]\ngroup-by: []\ncondition: {field: user, gte: 2}",
			[]input{with(1, `"src":"x"`), with(2, `"src":"x","user":"bob"`)},
			[]string{"lower 1@1", "lower 1@2 [{user bob}]", "c 2@2 []"},
		},
		{
			"numbers come from the event",
			"type: value_sum\nrules: [lower]\ncondition: {field: n, gte: 5}",
			[]input{with(1, `"src":"x","n":"2.5"`), with(2, `"src":"x","n":true`), with(3, `"src":"x","n":2.5`)},
			[]string{"lower 1@1", "lower 1@2", "lower 1@3", "c 5@3"},
		},
		{
			"null counts as a value here, too",
			"type: value_count\nrules: [lower]\ncondition: {field: v, gte: 2}",
			[]input{with(1, `"src":"x","v":null`), with(2, `"src":"x","v":"a"`), with(3, `"src":"x"`)},
			[]string{"lower 1@1", "lower 1@2", "c 2@2", "lower 1@3"},
		},
		{
			"a part the lower group lacks is no value",
			"type: value_count\nrules: [lower]\ngroup-by: []\ncondition: {field: user, gte: 1}",
			[]input{with(1, `"user":-,"src":"x"`), with(2, `"user":null,"src":"x"`)},
			[]string{"lower 1@1 []", "lower 1@2 []"},
		},
		{
			"what is suppressed below does not rise",
			"type: event_count\nrules: [quiet]\ncondition: {gte: 1}",
			[]input{with(1, ``), with(2, ``)},
			[]string{"quiet 1@1", "c 1@1"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := lower + "---\n" + named("c", tc.upper)
			if tc.events[0].fields == "" {
				text = named("quiet", "type: event_count\ncondition: {gte: 1}\nsluice.suppress: 10s") + "---\n" + named("c", tc.upper)
			}
			d := newDriver(t, compile(t, text, program.Options{}), 0)
			var got []string
			for _, e := range tc.events {
				for _, r := range d.feed(e) {
					s := fires([]*correlation.Result{r})[0]
					if r.Rule.Title == "c" {
						s = "c " + s
					}
					got = append(got, s)
				}
			}
			wantFires(t, got, tc.want)
		})
	}
}

func TestResultsCarryTheirRule(t *testing.T) {
	text := "title: SSH guessing\nid: c-ssh\nlevel: high\ntags: [attack.t1110]\nowner: {team: blue}\n" +
		"correlation: {type: event_count, rules: [d-login], group-by: [src, host, user], timespan: 5m, condition: {gte: 1}}\n"
	d := newDriver(t, compile(t, text, program.Options{ResultTime: true}), 0)
	got := string(d.feed(with(1720614600, `"src":"a\"b","host":null`))[0].AppendNative(nil, []byte(`{"e":1}`)))
	want := `{"rule_title":"SSH guessing","rule_id":"c-ssh","level":"high","tags":["attack.t1110"],"timestamp":"2024-07-10T12:30:00Z",` +
		`"custom_attributes":{"owner":{"team":"blue"}},"enrichments":{"e":1},"correlation_type":"event_count",` +
		`"group_key":[["src","a\"b"],["user","ann"]],"aggregated_value":1,"timespan_secs":300}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
