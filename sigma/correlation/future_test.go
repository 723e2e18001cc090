package correlation_test

import (
	"fmt"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

// never is a time no stream gets to.
const never = 9_999_999_999

// wait lets wall time pass.
func (d *driver) wait(seconds int64) {
	for range seconds {
		d.now++
		o := d.engine.Advance(d.now)
		d.outcome.Expired += o.Expired
		d.outcome.Forgotten += o.Forgotten
	}
}

func user(ts int64, name string) input { return with(ts, fmt.Sprintf(`"user":%q`, name)) }

// A group from the far future used to stay for ever, and at the limit longer than
// everybody else.
func TestGroupsFromTheFutureEnd(t *testing.T) {
	for _, tc := range []struct {
		name string
		run  func(d *driver)
		want int
	}{
		{"idle for the horizon behind an event that is believed", func(d *driver) {
			d.run([]input{user(100, "a"), user(never, "b"), user(101, "c")})
			d.wait(61)
		}, 0},
		{"not before the horizon has passed by the wall", func(d *driver) {
			d.run([]input{user(100, "a"), user(never, "b"), user(101, "c")})
			d.wait(59)
		}, 3},
		{"not as long as the stream may be going on there", func(d *driver) {
			d.run([]input{user(100, "a"), user(never, "b")})
			d.wait(300)
		}, 1},
		{"later, when the stream turns out to be going on elsewhere", func(d *driver) {
			d.run([]input{user(100, "a"), user(never, "b")})
			d.wait(300)
			d.run([]input{user(401, "c")})
			d.wait(61)
		}, 0},
		{"like others, when the stream goes on there", func(d *driver) {
			d.run([]input{user(100, "a"), user(never, "b"), user(never+1, "c"), user(never+2, "d")})
			d.wait(60)
		}, 1},
		{"across a restart", func(d *driver) {
			d.run([]input{user(100, "a"), user(never, "b"), user(101, "c")})
			d.wait(30)
			d.restart(d.engine.Program())
			d.wait(31)
		}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, compile(t, body(count3), program.Options{}), 0)
			tc.run(d)
			if got := d.engine.Groups(); got != tc.want {
				t.Errorf("got %d groups, want %d", got, tc.want)
			}
		})
	}
}

func TestAtTheLimitGroupsFromTheFutureGoFirst(t *testing.T) {
	for _, tc := range []struct {
		name   string
		future func(i int) []input
	}{
		{"each with a time of its own", func(i int) []input { return []input{user(never-int64(i), fmt.Sprint("f", i))} }},
		{"all with the same time", func(i int) []input { return []input{user(never, fmt.Sprint("f", i))} }},
		{"from the present first", func(i int) []input {
			return []input{user(1001, fmt.Sprint("f", i)), user(never, fmt.Sprint("f", i))}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, compile(t, body("type: event_count\ncondition: {gte: 1000}\ntimespan: 1h"), program.Options{}), 20)
			for i := range 10 {
				d.run([]input{user(1000, fmt.Sprint("u", i))})
			}
			for i := range 200 {
				d.run(tc.future(i))
				d.run([]input{user(1001+int64(i), fmt.Sprint("u", i%10))})
			}
			groups, _ := d.engine.Export().State(correlation.Filter{})
			entries := map[byte]int{}
			for _, g := range groups {
				if (*g.GroupKey[0].Value)[0] == 'u' {
					entries['u'] += g.Entries
				}
			}
			if got := entries['u']; got != 210 {
				t.Errorf("got %d entries of the users of the present, want 210; evicted %d", got, d.outcome.Evicted)
			}
		})
	}
}

// An emission in the far future used to silence its group for ever.
func TestSuppressionFromTheFutureEndsWithItsGroup(t *testing.T) {
	rule := body("type: event_count\ncondition: {gte: 1}\ntimespan: 10s\nsluice.suppress: 1h")
	for _, tc := range []struct {
		name   string
		before []input
		limit  int
	}{
		{"expired", []input{user(100, "a"), user(never, "ann"), user(101, "b")}, 0},
		{"evicted by an event that is ahead itself", []input{user(100, "a"), user(never, "ann"), user(101, "b"), user(never, "c")}, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, compile(t, rule, program.Options{}), tc.limit)
			d.run(tc.before)
			d.wait(20)
			wantFires(t, d.run(at(121)), []string{"1@121"})
			wantFires(t, d.run(at(122)), nil)
		})
	}
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
		d.run([]input{user(ts, "u0"), user(never, fmt.Sprint("f", i))})
	}
	for i := range 8 {
		if got := d.run([]input{user(ts, fmt.Sprint("u", i))}); len(got) != 0 {
			t.Errorf("user %d of the present is no longer suppressed: %v", i, got)
		}
	}
}
