package correlation_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

const (
	hour = 60 * 60
	day  = 24 * hour
	// began is the wall time at which drivers begin.
	began = 1_700_000_000
	// never is a time no stream gets to.
	never = 9_999_999_999
)

// wait lets wall time pass.
func (d *driver) wait(seconds int64) {
	for range seconds {
		d.now++
		o := d.engine.Advance(d.now)
		d.outcome.Expired += o.Expired
		d.outcome.Forgotten += o.Forgotten
	}
}

func user(ts int64, name string) input { return with(ts, fmt.Sprintf(`"user":"%s"`, name)) }

// names returns the users that have groups.
func (d *driver) names() []string {
	var list []string
	groups, _ := d.engine.Export().State(correlation.Filter{NoWindow: true})
	for _, g := range groups {
		list = append(list, *g.GroupKey[0].Value)
	}
	return list
}

// Three events from the far future used to move the clock for good.
func TestNoEventMovesTheStreamClockADayBeyondItsArrival(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events []int64
		want   int64
	}{
		{"45a: the first event", []int64{began + 30*day}, began + day},
		{"45e: one just not far-future, then one that is", []int64{began + day, began + day + 1}, began + day},
		{"three in a row", []int64{began, never, never, never}, began + day},
		{"a hundred in a row, each further", slices.Collect(func(yield func(int64) bool) {
			for i := range int64(100) {
				if !yield(never + i*day) {
					return
				}
			}
		}), began + day},
		{"two in a row, far behind which the clock was", []int64{began - 30*day, never, never}, began - 30*day},
		{"three in a row, far behind which the clock was", []int64{began - 30*day, never, never, never}, began + day},
		{"two, and one of the present between them", []int64{began - 30*day, never, never, began - 30*day, never}, began - 30*day},
		{"one, when the clock is less than a day behind that", []int64{began, never}, began + day},
		{"the present, far behind which the clock was", []int64{began - 30*day, began, began, began}, began},
		{"a replay within a day", []int64{100, 100 + day}, 100 + day},
		{"a replay over a day", []int64{100, 101 + day}, 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, compile(t, body(count3), program.Options{}), 0)
			d.run(at(tc.events...))
			if got := d.engine.StreamClock(d.now); got != tc.want {
				t.Errorf("the clock is at %d, want %d", got-began, tc.want-began)
			}
			d.restart(d.engine.Program())
			if got := d.engine.StreamClock(d.now + 7); got != tc.want+7 {
				t.Errorf("after a restart and 7 s the clock is at %d, want %d", got-began, tc.want+7-began)
			}
		})
	}
}

func TestWhatIsFarFutureIsToldByTheArrival(t *testing.T) {
	d := newDriver(t, compile(t, body(count3), program.Options{}), 0)
	const late = 1000 // how long the batch waited
	d.now += late
	record := d.record(input{ts: began + day + 1})
	if _, _, err := d.engine.Process(record, began, d.now, nil); err != nil {
		t.Fatal(err)
	}
	if got := d.engine.StreamClock(d.now); got != began+day {
		t.Errorf("the clock is at %d, want %d", got-began, day)
	}
	if d.wait(60); d.engine.Groups() != 0 {
		t.Error("the group does not expire by the wall")
	}
}

func TestMatchesOfTheFarFutureCountAtTheirTime(t *testing.T) {
	d := newDriver(t, compile(t, body(count3), program.Options{}), 0)
	wantFires(t, d.run(at(never, never+30, never+60, never+61)), []string{
		fmt.Sprint("3@", never+60), fmt.Sprint("3@", never+61),
	})
	// The present is late for this group until it is believed.
	wantFires(t, d.run(at(began, began+1, began+2, began+3, began+4)), []string{fmt.Sprint("3@", began+4)})
}

// A group from the far future used to stay until the stream got there.
func TestGroupsFromTheFarFutureExpireByTheWall(t *testing.T) {
	reset := body("type: event_count\ncondition: {gte: 1}\nsluice.action: reset")
	for _, tc := range []struct {
		name string
		rule string
		run  func(d *driver)
		want []string
	}{
		{"45b: idle for the horizon", body(count3), func(d *driver) {
			d.run([]input{user(began+30*day, "a")})
			d.wait(61)
		}, nil},
		{"not before the horizon has passed", body(count3), func(d *driver) {
			d.run([]input{user(began+30*day, "a")})
			d.wait(59)
		}, []string{"a"}},
		{"a session by its gap", body(count3 + "\nwindow: session\ngap: 5s"), func(d *driver) {
			d.run([]input{user(began+30*day, "a")})
			d.wait(5)
		}, nil},
		{"a tumbling one", body(count3 + "\nwindow: tumbling"), func(d *driver) {
			d.run([]input{user(began+30*day, "a")})
			d.wait(60)
		}, nil},
		{"one that was of the present before", body(count3), func(d *driver) {
			d.run([]input{user(began, "a"), user(never, "a")})
			d.wait(60)
		}, nil},
		{"one whose time counts again is idle from then on", body(count3), func(d *driver) {
			d.run([]input{user(never, "a")})
			d.wait(30)
			d.run([]input{user(never-1, "a")})
			d.wait(59)
		}, []string{"a"}},
		{"matches that are too late keep none", body(count3), func(d *driver) {
			d.run([]input{user(never, "a")})
			d.wait(30)
			d.run([]input{user(began+30, "a"), user(began+30, "a")})
			d.wait(30)
		}, nil},
		{"emptied by an action", reset, func(d *driver) {
			d.run([]input{user(never, "a")})
			d.wait(60)
		}, nil},
		{"emptied by an action, not before its horizon", reset, func(d *driver) {
			d.run([]input{user(never, "a")})
			d.wait(59)
		}, []string{"a"}},
		{"what is ahead by a day at most waits for the stream", body(count3), func(d *driver) {
			d.run([]input{user(began-day, "z"), user(began+day, "a"), user(began+day+1, "b")})
			d.wait(61)
		}, []string{"a"}},
		{"one that the present was believed in is of the present", body(count3), func(d *driver) {
			z, a := user(began-2*day, "z"), user(began+day, "a")
			d.run([]input{z, user(never, "a"), z, a, z, a, z, a, z})
			d.wait(61)
		}, []string{"a"}},
		{"one whose newest time came again a day before it", body(count3), func(d *driver) {
			d.run([]input{user(began-2*day, "z"), user(began+day+30, "a")})
			d.wait(30)
			d.run([]input{user(began+day+30, "a"), user(began-2*day, "z")})
			d.wait(61)
		}, []string{"a"}},
		{"across a restart", body(count3), func(d *driver) {
			d.run([]input{user(never, "b"), user(never, "c")})
			d.wait(30)
			d.run([]input{user(never, "c")})
			d.restart(d.engine.Program())
			d.wait(30)
		}, []string{"c"}},
		{"undone", body(count3), func(d *driver) {
			d.run([]input{user(began-2*day, "z"), user(began+day, "a")})
			record := d.record(user(never, "a"))
			d.engine.Begin()
			if _, _, err := d.engine.Process(record, d.now, d.now, nil); err != nil {
				d.tb.Fatal(err)
			}
			d.engine.Rollback()
			d.wait(61)
		}, []string{"a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, compile(t, tc.rule, program.Options{}), 0)
			if tc.run(d); !slices.Equal(d.names(), tc.want) {
				t.Errorf("got the groups %q, want %q", d.names(), tc.want)
			}
		})
	}
}

func TestAtTheLimitGroupsFromTheFarFutureGoFirst(t *testing.T) {
	long := body(count3 + "\ntimespan: 1h")
	for _, tc := range []struct {
		name             string
		run              func(d *driver)
		want             []string
		evicted, expired int
	}{
		{"45c: one of ten", func(d *driver) {
			for i := range int64(10) {
				ts := i
				if i == 5 {
					ts = began + 30*day
				}
				d.run([]input{user(ts, fmt.Sprint("u", i))})
			}
			d.run([]input{user(10, "v")})
		}, []string{"u0", "u1", "u2", "u3", "u4", "u6", "u7", "u8", "u9", "v"}, 1, 0},
		{"those idle for longest before the others, whatever their time", func(d *driver) {
			for i := range int64(10) {
				d.run([]input{user(never-i*hour, fmt.Sprint("u", i))})
				d.now++
			}
			d.run([]input{user(never-2*hour, "u2"), user(never, "u0"), user(never, "v"), user(never, "w")})
		}, []string{"u0", "u2", "u4", "u5", "u6", "u7", "u8", "u9", "v", "w"}, 3, 0},
		{"then the oldest of the present", func(d *driver) {
			for i := range int64(9) {
				d.run([]input{user(100-i, fmt.Sprint("u", i))})
			}
			d.run([]input{user(never, "f")})
			d.run([]input{user(100, "v"), user(100, "w")})
		}, []string{"u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "v", "w"}, 2, 0},
		{"those that are over have expired", func(d *driver) {
			a := user(100, "a")
			d.run([]input{a, user(never, "f"), user(never, "g"), a})
			d.now += hour - 1
			d.run([]input{user(never, "g"), user(100+hour-1, "a")})
			d.now++ // nobody looks at timers
			for i := range int64(8) {
				d.run([]input{user(100+hour, fmt.Sprint("u", i))})
			}
		}, []string{"a", "g", "u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7"}, 0, 1},
		{"restored ones, too", func(d *driver) {
			d.run([]input{user(1, "a"), user(never, "f"), user(2, "b")})
			d.restart(d.engine.Program())
			for i := range int64(8) {
				d.run([]input{user(3, fmt.Sprint("u", i))})
			}
		}, []string{"a", "b", "u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7"}, 1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, compile(t, long, program.Options{}), 10)
			tc.run(d)
			if got := d.names(); !slices.Equal(got, tc.want) || d.outcome.Evicted != tc.evicted || d.outcome.Expired != tc.expired {
				t.Errorf("got the groups %q, %d evicted, %d expired, want %q, %d and %d",
					got, d.outcome.Evicted, d.outcome.Expired, tc.want, tc.evicted, tc.expired)
			}
		})
	}
}

// One sender of wrong times used to push out the groups of all others.
func TestAFloodFromTheFarFutureEvictsNobodyElse(t *testing.T) {
	for _, tc := range []struct {
		name   string
		future func(i int) []input
	}{
		{"each with a time of its own", func(i int) []input { return []input{user(never-int64(i), fmt.Sprint("f", i))} }},
		{"all with the same time", func(i int) []input { return []input{user(never, fmt.Sprint("f", i))} }},
		{"from the present first", func(i int) []input {
			return []input{user(began+1, fmt.Sprint("f", i)), user(never, fmt.Sprint("f", i))}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, compile(t, body("type: event_count\ncondition: {gte: 1000}\ntimespan: 2d"), program.Options{}), 20)
			for i := range 10 {
				d.run([]input{user(began, fmt.Sprint("u", i))})
			}
			for i := range 200 {
				d.run(tc.future(i))
				d.run([]input{user(began+1+int64(i), fmt.Sprint("u", i%10))})
			}
			entries := 0
			groups, _ := d.engine.Export().State(correlation.Filter{})
			for _, g := range groups {
				if (*g.GroupKey[0].Value)[0] == 'u' {
					entries += g.Entries
				}
			}
			if entries != 210 {
				t.Errorf("got %d entries of the users of the present, want 210; evicted %d", entries, d.outcome.Evicted)
			}
		})
	}
}

// An emission in the far future used to silence its group until then.
func TestASuppressionFromTheFarFutureEndsByTheWall(t *testing.T) {
	rule := func(timespan, suppress string) string {
		return body("type: event_count\ncondition: {gte: 1}\ntimespan: " + timespan + "\nsluice.suppress: " + suppress)
	}
	one := []string{fmt.Sprint("1@", never)}
	for _, tc := range []struct {
		name  string
		rule  string
		limit int
		wait  int64
		then  []int64 // seconds since the beginning
		want  []string
	}{
		{"45d: over before its group", rule("60s", "10s"), 0, 70, []int64{70}, []string{"1@70"}},
		{"after its group, not before it is over", rule("10s", "1h"), 0, hour - 1, []int64{hour - 1}, nil},
		{"after its group, when it is over", rule("10s", "1h"), 0, hour, []int64{hour, hour + 1}, []string{fmt.Sprint("1@", hour)}},
		{"after its group was evicted", rule("10s", "1h"), 1, hour - 1, []int64{hour - 1}, nil},
		{"in a group that came back", rule("10s", "100s"), 0, 95, []int64{95, 99, 101}, []string{"3@101"}},
	} {
		for _, restart := range []bool{false, true} {
			name := tc.name
			if restart {
				name += ", over a restart"
			}
			t.Run(name, func(t *testing.T) {
				d := newDriver(t, compile(t, tc.rule, program.Options{}), tc.limit)
				wantFires(t, d.run(at(never)), one)
				if tc.limit > 0 {
					d.run([]input{user(began, "other")})
				}
				d.wait(tc.wait)
				if restart {
					d.restart(d.engine.Program())
				}
				var got []string
				for _, at := range tc.then {
					d.now = began + at
					d.engine.Advance(d.now)
					for _, r := range d.feed(input{ts: began + at}) {
						got = append(got, fmt.Sprintf("%v@%d", r.Value, r.Time-began))
					}
				}
				wantFires(t, got, tc.want)
			})
		}
	}
}

func TestASuppressionIsOfThePresentAgainWithTheNextEmission(t *testing.T) {
	rule := body("type: event_count\ncondition: {gte: 1}\ntimespan: 10s\nsluice.suppress: 100s")
	d := newDriver(t, compile(t, rule, program.Options{}), 0)
	d.run([]input{user(began-2*day, "z"), user(never, "ann")})
	d.wait(100)
	wantFires(t, d.run(at(began+100)), []string{fmt.Sprint("1@", began+100)})
	d.wait(99) // by the wall 199 s since the first one
	wantFires(t, d.run(at(began+199)), nil)
}

func TestSuppressionFromTheFutureIsForgottenFirst(t *testing.T) {
	const limit = 10
	rule := body("type: event_count\ncondition: {gte: 1}\ntimespan: 1s\nsluice.suppress: 1h")
	d := newDriver(t, compile(t, rule, program.Options{}), limit)
	ts := int64(1000)
	for i := range 8 {
		d.run([]input{user(ts, fmt.Sprint("u", i))})
	}
	for i := range 100 {
		d.wait(2)
		ts += 2
		d.run([]input{user(never, fmt.Sprint("f", i))})
	}
	for i := range 8 {
		if got := d.run([]input{user(1000+hour-1, fmt.Sprint("u", i))}); len(got) != 0 {
			t.Errorf("user %d of the present is no longer suppressed: %v", i, got)
		}
	}
}
