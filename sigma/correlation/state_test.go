package correlation_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

// save returns the encoded state.
func (d *driver) save() []byte {
	d.tb.Helper()
	var b bytes.Buffer
	if err := d.engine.Export().Encode(&b, d.now); err != nil {
		d.tb.Fatalf("encode: %v", err)
	}
	return b.Bytes()
}

// restart goes on with a new engine that restored what the old one saved.
func (d *driver) restart(p *program.Program) correlation.Restored {
	d.tb.Helper()
	state := d.save()
	limits := d.engine.Limits()
	d.engine = correlation.New(p, limits)
	d.use(p)
	restored, err := d.engine.Restore(bytes.NewReader(state), d.now)
	if err != nil {
		d.tb.Fatalf("restore: %v", err)
	}
	return restored
}

func wantFires(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheStalestTenthMakesRoom(t *testing.T) {
	d := newDriver(t, compile(t, body(count3+"\ntimespan: 1h"), program.Options{}), 10)
	for i := range int64(10) {
		d.feed(with(i, fmt.Sprintf(`"user":"u%d"`, i)))
	}
	record := d.record(with(100, `"user":"u10"`))
	_, o, err := d.engine.Process(record, d.now, d.now, nil)
	if err != nil || o.Evicted != 1 || o.Before != 10 {
		t.Errorf("got %+v, %v, want 1 evicted of 10", o, err)
	}
	groups, count := d.engine.Export().State(correlation.Filter{NoWindow: true})
	if count != 10 || groups[0].GroupKeyDisplay != "user=u1" {
		t.Errorf("got %d groups from %s, want 10 from user=u1", count, groups[0].GroupKeyDisplay)
	}
}

func TestFullEventsKeepTheNewest(t *testing.T) {
	d := newDriver(t, compile(t, body(count3+"\nsluice.correlation_event_mode: full\nsluice.max_correlation_events: 2"), program.Options{}), 0)
	var last []*correlation.Result
	for i := range int64(3) {
		last = d.feed(with(i+1, fmt.Sprintf(`"n":%d`, i+1)))
	}
	want := []string{`{"user":"ann","kind":"login","n":2}`, `{"user":"ann","kind":"login","n":3}`}
	var got []string
	for _, e := range last[0].Events {
		got = append(got, string(e))
	}
	wantFires(t, got, want)
}

func TestReferencesNameEvents(t *testing.T) {
	d := newDriver(t, compile(t, body("type: event_count\ncondition: {gte: 2}"), program.Options{EventMode: program.EventsRefs}), 0)
	d.feed(with(10, `"_id":"x1"`))
	got := string(d.feed(with(11, `"id":{},"_id":"z"`))[0].AppendNative(nil, nil))
	want := `{"rule_title":"c","rule_id":"c","level":null,"tags":[],"correlation_type":"event_count",` +
		`"group_key":[["user","ann"]],"aggregated_value":2,"timespan_secs":60,"event_refs":[{"timestamp":10,"id":"x1"},{"timestamp":11}]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestMatchesThatOnlyFeedAreWithheld(t *testing.T) {
	for _, tc := range []struct {
		name string
		rule string
		o    program.Options
		want bool
	}{
		{"withheld without generate", body(count3), program.Options{NoDetections: true}, false},
		{"emitted with generate", body(count3 + "\ngenerate: true"), program.Options{NoDetections: true}, true},
		{"emitted without the flag", body(count3), program.Options{}, true},
		{"one that generates is enough", body(count3) + "---\n" + named("e", count3+"\ngenerate: true"), program.Options{NoDetections: true}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := compile(t, tc.rule, tc.o)
			if got := p.Emits(0); got != tc.want {
				t.Errorf("emits d-login: got %v, want %v", got, tc.want)
			}
			if !p.Emits(1) {
				t.Error("a rule no correlation refers to is withheld")
			}
		})
	}
}

func TestStateSurvivesARestart(t *testing.T) {
	p := compile(t, body(count3), program.Options{})
	d := newDriver(t, p, 0)
	d.run(at(100, 101))
	if r := d.restart(p); r.Groups != 1 || len(r.Dropped) != 0 {
		t.Errorf("restored %+v, want one group", r)
	}
	wantFires(t, d.run(at(102)), []string{"3@102"})
}

func TestAnotherIdOrShapeDropsState(t *testing.T) {
	for _, tc := range []struct {
		name, rule, reason string
	}{
		{"the id is another", named("d", count3), correlation.Removed},
		{"the type is another", body("type: value_count\ncondition: {field: user, gte: 1}"), correlation.ShapeChanged},
		{"the group is another", body(count3 + "\ngroup-by: [host]"), correlation.ShapeChanged},
	} {
		want := []correlation.Dropped{{Correlation: "c", Reason: tc.reason, Groups: 1}}
		after := compile(t, tc.rule, program.Options{})
		t.Run(tc.name+" at a restart", func(t *testing.T) {
			d := newDriver(t, compile(t, body(count3), program.Options{}), 0)
			d.run(at(100, 101))
			if got := d.restart(after).Dropped; !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			if d.engine.Groups() != 0 {
				t.Errorf("got %d groups, want none", d.engine.Groups())
			}
		})
		t.Run(tc.name+" at a reload", func(t *testing.T) {
			d := newDriver(t, compile(t, body(count3), program.Options{}), 0)
			d.run(at(100, 101))
			if got := d.engine.Swap(after, d.now); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			if d.engine.Groups() != 0 {
				t.Errorf("got %d groups, want none", d.engine.Groups())
			}
		})
	}
}

// Here both references lead to d-login first.
func TestMembersThatShareARuleKeepTheirOwnHits(t *testing.T) {
	text := "title: also\nid: d-also\nname: login_seen\ndetection: {s: {kind: also}, condition: s}\n---\n" +
		body("type: temporal\nrules: [d-login, login_seen]\ncondition: d-login and login_seen")
	p := compile(t, text, program.Options{})
	d := newDriver(t, p, 0)
	d.run([]input{with(1, `"kind":"also"`)})
	d.restart(p)
	groups, _ := d.engine.Export().State(correlation.Filter{})
	if got, want := mustJSON(t, groups[0].Window), `{"Temporal":{"rule_hits":{"login_seen":[1]}}}`; got != want {
		t.Errorf("after the restart %s, want %s", got, want)
	}
}

func TestOfTwoWithOneIdTheFirstKeepsItsState(t *testing.T) {
	p := compile(t, body(count3)+"---\n"+body(count3), program.Options{})
	want := []correlation.Dropped{{Correlation: "c", Reason: correlation.SharedID, Groups: 1}}
	for name, renew := range map[string]func(*driver) []correlation.Dropped{
		"restart": func(d *driver) []correlation.Dropped { return d.restart(p).Dropped },
		"reload":  func(d *driver) []correlation.Dropped { return d.engine.Swap(p, d.now) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, p, 0)
			d.run(at(100, 101))
			if got := renew(d); !slices.Equal(got, want) {
				t.Errorf("dropped %v, want %v", got, want)
			}
			wantFires(t, d.run(at(102)), []string{"3@102"})
		})
	}
}

func TestReloadKeepsStateOfEqualShape(t *testing.T) {
	for _, tc := range []struct {
		name, before, after string
		first, second       []input
		want                []string
	}{
		{"another threshold applies from the next match", body(count3), body("type: event_count\ncondition: {gte: 5}"), at(1, 2, 3), at(4, 5), []string{"3@3", "5@5"}},
		{"a shorter timespan lets entries go then", body(count3), body(count3 + "\ntimespan: 10s"), at(1, 2), at(30, 31), nil},
		{"a shorter tumbling window lets them go, too", body(count3 + "\nwindow: tumbling"), body(count3 + "\nwindow: tumbling\ntimespan: 10s"), at(1, 25), at(26, 27), []string{"3@27"}},
		{"a window that becomes a tumbling one keeps what lies in it", body(count3), body(count3 + "\nwindow: tumbling\ntimespan: 10s"), at(8, 12), at(13, 14), []string{"3@14"}},
		{"another window mode keeps entries", body(count3), body(count3 + "\nwindow: session\ngap: 30s"), at(1, 2), at(20), []string{"3@20"}},
		{"suppression goes on", body(count3 + "\nsluice.suppress: 10s"), body("type: event_count\ncondition: {gte: 2}\nsluice.suppress: 10s"), at(1, 2, 3), at(4, 12, 13), []string{"3@3", "6@13"}},
		{
			"another spelling of a member keeps its hits",
			body("type: temporal\nrules: [d-recon, d-exploit]"), body("type: temporal\nrules: [exploit_seen, recon_seen]"),
			[]input{with(1, `"kind":"recon"`)},
			[]input{with(2, `"kind":"exploit"`)},
			[]string{"2@2"},
		},
		{
			"aliases in another order are the same", body(count3 + "\nrules: [d-login, d-recon]\ngroup-by: [ip]\naliases: {ip: {d-recon: dst, d-login: user}}"),
			body(count3 + "\nrules: [d-login, d-recon]\ngroup-by: [ip]\naliases: {ip: {d-login: user, d-recon: dst}}"), at(1, 2), at(3),
			[]string{"3@3 [{ip ann}]"},
		},
		{
			"a member that was removed loses its hits",
			body("type: temporal\nrules: [d-recon, d-exploit]\ncondition: {gte: 2}"), body("type: temporal\nrules: [d-login, d-exploit]\ncondition: {gte: 2}"),
			[]input{with(1, `"kind":"recon"`)},
			[]input{with(2, `"kind":"exploit"`)},
			nil,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, compile(t, tc.before, program.Options{}), 0)
			got := d.run(tc.first)
			after := compile(t, tc.after, program.Options{})
			if dropped := d.engine.Swap(after, d.now); len(dropped) > 0 {
				t.Errorf("dropped %v", dropped)
			}
			d.use(after)
			wantFires(t, append(got, d.run(tc.second)...), tc.want)
		})
		t.Run(tc.name+", over a restart", func(t *testing.T) {
			d := newDriver(t, compile(t, tc.before, program.Options{}), 0)
			got := d.run(tc.first)
			d.restart(compile(t, tc.after, program.Options{}))
			wantFires(t, append(got, d.run(tc.second)...), tc.want)
		})
	}
}

func TestOtherEventsDoNotMoveTheClock(t *testing.T) {
	d := newDriver(t, compile(t, body(count3), program.Options{}), 0)
	d.run(at(100))
	if record := d.record(with(100+20*3600, `"kind":"other"`)); len(record) != 0 {
		t.Errorf("got a record of %d bytes for an event no correlation can use", len(record))
	}
	d.now += 59
	if o := d.engine.Advance(d.now); o.Expired != 0 || d.engine.Groups() != 1 {
		t.Errorf("got %d expired, %d groups, want the group to stay", o.Expired, d.engine.Groups())
	}
}

func TestCases48And49AnEarlierSaveGoesOn(t *testing.T) {
	p := compile(t, body("type: event_count\ncondition: {gte: 4}"), program.Options{})
	for _, tc := range []struct {
		name  string
		after []int64
		want  []string
	}{
		{"48: what came behind the barrier is missing", []int64{103, 104}, []string{"4@104"}},
		{"49: redelivery fills the hole", []int64{102, 103, 104}, []string{"4@103", "5@104"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, p, 0)
			d.run(at(100, 101))
			view := d.engine.Export()
			d.run(at(102)) // after the barrier, while the save is written
			var b bytes.Buffer
			if err := view.Encode(&b, d.now); err != nil {
				t.Fatal(err)
			}
			d.engine = correlation.New(p, correlation.Limits{})
			if _, err := d.engine.Restore(&b, d.now); err != nil {
				t.Fatal(err)
			}
			wantFires(t, d.run(at(tc.after...)), tc.want)
		})
	}
}

func TestSumsAreTheSameToTheBit(t *testing.T) {
	p := compile(t, body("type: value_sum\ncondition: {field: n, gt: -1}\ntimespan: 5s"), program.Options{})
	values := []string{"1e16", "0.1", "0.2", "0.3", "-1e16", "1e-9", "0.7", "3", "1e300", "-1e300", "0.1"}
	var events []input
	for i, v := range values {
		events = append(events, with(int64(i), `"n":`+v))
	}
	want := newDriver(t, p, 0).run(events)
	d := newDriver(t, p, 0)
	var got []string
	for _, e := range events {
		got = append(got, fires(d.feed(e))...)
		d.restart(p)
	}
	wantFires(t, got, want)
}

// everything has a correlation of every type and window, chained ones included.
func everything() string {
	var docs []string
	for _, w := range []string{"sliding", "tumbling", "session\ngap: 7s"} {
		for _, kind := range []string{
			"event_count\ncondition: {gte: 2}",
			"value_count\ncondition: {field: [v, w], gte: 2}",
			"value_sum\ncondition: {field: n, gt: 3}",
			"value_avg\ncondition: {field: n, lt: 3}",
			"value_percentile\ncondition: {field: n, percentile: 33.3, gt: 2}",
			"value_median\ncondition: {field: n, gt: 2}",
			"temporal\nrules: [d-login, d-recon]",
			"temporal_ordered\nrules: [d-login, d-recon]",
		} {
			id := fmt.Sprint("c", len(docs))
			extra := []string{"", "\nsluice.suppress: 4s", "\nsluice.action: reset", "\nsluice.max_group_entries: 3"}[len(docs)%4]
			docs = append(docs, named(id, "type: "+kind+"\nwindow: "+w+"\ntimespan: 20s\nsluice.correlation_event_mode: refs"+extra))
		}
	}
	docs = append(docs,
		named("above", "type: temporal\nrules: [c0, c6, d-exploit]\ntimespan: 20s\ncondition: {gte: 2}"),
		named("sums", "type: value_sum\nrules: [c1, c0]\ngroup-by: [host]\ntimespan: 20s\ncondition: {field: n, gt: 2}"),
		named("top", "type: value_count\nrules: [above, sums]\ntimespan: 20s\ngroup-by: []\ncondition: {field: user, gte: 2}\nsluice.suppress: 3s"),
	)
	return strings.Join(docs, "---\n")
}

// traffic is a random stream for everything, seldom out of order.
func traffic(seed uint64, n int) []input {
	r := rand.New(rand.NewPCG(seed, 7))
	ts := int64(1000)
	list := make([]input, n)
	for i := range list {
		ts += r.Int64N(4)
		at := ts
		switch r.IntN(12) {
		case 0:
			at = max(0, ts-r.Int64N(40))
		case 1:
			at = ts + r.Int64N(5)
		}
		if r.IntN(100) == 0 {
			at = ts + r.Int64N(1<<33)
		}
		kind := []string{"login", "recon", "exploit"}[r.IntN(3)]
		fields := fmt.Sprintf(`"kind":%q,"user":"u%d","v":%d,"w":%d,"id":%d`, kind, r.IntN(3), r.IntN(3), r.IntN(2), i)
		if r.IntN(5) > 0 {
			fields += fmt.Sprintf(`,"n":%d.%d`, r.IntN(6), r.IntN(10))
		}
		list[i] = with(at, fields)
	}
	return list
}

// lines renders results whole, so that nothing can differ unseen.
func lines(results []*correlation.Result) string {
	var b strings.Builder
	for _, r := range results {
		b.Write(r.AppendNative(nil, nil))
		b.WriteByte('\n')
	}
	return b.String()
}

func TestRestoredEqualsUninterrupted(t *testing.T) {
	p := compile(t, everything(), program.Options{})
	for seed := range uint64(3) {
		events := traffic(seed, 120)
		for _, limit := range []int{0, 12} {
			whole := newDriver(t, p, limit)
			var want []string
			for _, e := range events {
				want = append(want, lines(whole.feed(e)))
				whole.now++
				whole.engine.Advance(whole.now)
			}
			for _, every := range []int{1, 13} {
				d := newDriver(t, p, limit)
				for i, e := range events {
					if got := lines(d.feed(e)); got != want[i] {
						t.Fatalf("seed %d, limit %d, restart every %d, event %d:\ngot  %s\nwant %s", seed, limit, every, i, got, want[i])
					}
					d.now++
					d.engine.Advance(d.now)
					if i%every == 0 {
						d.restart(p)
					}
				}
			}
		}
	}
}

func TestRollbackLeavesNoTrace(t *testing.T) {
	p := compile(t, everything(), program.Options{})
	for seed := range uint64(3) {
		plain, disturbed := newDriver(t, p, 0), newDriver(t, p, 0)
		r := rand.New(rand.NewPCG(seed, 9))
		events, poison := traffic(seed, 300), traffic(seed+100, 300)
		for i, e := range events {
			if r.IntN(3) == 0 {
				record := disturbed.record(poison[i])
				disturbed.engine.Begin()
				if _, _, err := disturbed.engine.Process(record, disturbed.now, disturbed.now, nil); err != nil {
					t.Fatal(err)
				}
				disturbed.engine.Rollback()
			}
			if r.IntN(20) == 0 {
				disturbed.engine.Export()
			}
			if got, want := lines(disturbed.feed(e)), lines(plain.feed(e)); got != want {
				t.Fatalf("seed %d, event %d:\ngot  %s\nwant %s", seed, i, got, want)
			}
		}
		if got, want := disturbed.save(), plain.save(); len(got) != len(want) || disturbed.engine.Groups() != plain.engine.Groups() {
			t.Errorf("seed %d: got %d groups in %d bytes, want %d in %d", seed, disturbed.engine.Groups(), len(got), plain.engine.Groups(), len(want))
		}
	}
}

func TestARecordOfAnotherPlanIsRefused(t *testing.T) {
	one := "type: event_count\ncondition: {gte: 3}\nrules: [d-login]"
	small := compile(t, named("a", one), program.Options{})
	large := compile(t, named("a", one)+"---\n"+named("z", one), program.Options{})
	d, foreign := newDriver(t, small, 0), newDriver(t, large, 0)
	d.run([]input{with(10, ""), with(12, "")})
	before := d.save()
	record := foreign.record(with(13, ""))
	d.engine.Begin()
	if _, _, err := d.engine.Process(record, d.now, d.now, nil); !errors.Is(err, match.ErrForeign) {
		t.Fatalf("got %v, want ErrForeign", err)
	}
	d.engine.Rollback()
	if !bytes.Equal(d.save(), before) {
		t.Error("the record left a trace")
	}
	wantFires(t, d.run([]input{with(13, "")}), []string{"a 3@13"})
}

func TestAViewStaysAsItWas(t *testing.T) {
	p := compile(t, everything(), program.Options{})
	d := newDriver(t, p, 0)
	events := traffic(3, 600)
	for _, e := range events[:200] {
		d.feed(e)
	}
	view := d.engine.Export()
	want := encode(t, view, d.now)
	done := make(chan []byte)
	go func() { // while the engine goes on; the race detector watches
		var last []byte
		for range 20 {
			last = encode(t, view, d.now)
			view.State(correlation.Filter{})
		}
		done <- last
	}()
	for _, e := range events[200:] {
		d.feed(e)
	}
	if got := <-done; !bytes.Equal(got, want) {
		t.Error("the view changed while the engine went on")
	}
}

func encode(t *testing.T, v *correlation.View, now int64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := v.Encode(&b, now); err != nil {
		t.Error(err)
	}
	return b.Bytes()
}

func TestStateThatCannotBeReadLeavesTheEngineEmpty(t *testing.T) {
	p := compile(t, everything(), program.Options{})
	d := newDriver(t, p, 0)
	d.run(traffic(1, 50))
	state := d.save()
	for n := 0; n < len(state); n += 7 {
		e := correlation.New(p, correlation.Limits{})
		if _, err := e.Restore(bytes.NewReader(state[:n]), d.now); !errors.Is(err, correlation.ErrCorrupt) {
			t.Fatalf("cut at %d of %d: got %v, want ErrCorrupt", n, len(state), err)
		}
		if e.Groups() != 0 {
			t.Fatalf("cut at %d: got %d groups, want none", n, e.Groups())
		}
	}
	state[0] = 9
	var version *correlation.VersionError
	if _, err := correlation.New(p, correlation.Limits{}).Restore(bytes.NewReader(state), d.now); !errors.As(err, &version) || version.Version != 9 {
		t.Errorf("got %v, want a VersionError with 9", err)
	}
}

func FuzzRestore(f *testing.F) {
	p := compile(f, everything(), program.Options{})
	d := newDriver(f, p, 0)
	d.run(traffic(1, 30))
	f.Add(d.save())
	events := traffic(2, 10)
	f.Fuzz(func(t *testing.T, state []byte) {
		d := newDriver(t, p, 0)
		if _, err := d.engine.Restore(bytes.NewReader(state), d.now); err == nil {
			d.run(events)
			d.engine.Export().State(correlation.Filter{NoWindow: true})
		}
	})
}
