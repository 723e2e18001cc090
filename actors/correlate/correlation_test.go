package correlate

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/correlation"

	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

const login = "title: Login\nid: d-login\nlogsource: {category: auth}\ndetection: {s: {kind: login}, condition: s}\n---\n"

// counting is a correlation that counts logins by a field.
func counting(id, by string, gte int) string {
	return fmt.Sprintf("title: %s\nid: %s\ncorrelation: {type: event_count, rules: d-login, group-by: %s, timespan: 60s, condition: {gte: %d}}\n---\n", id, id, by, gte)
}

func compiled(t *testing.T, generation uint64, rules string) *graph.RuleSet {
	t.Helper()
	c := load.FromBytes("r.yml", []byte(rules), load.Options{})
	if len(c.Rejected) > 0 {
		t.Fatalf("rejected: %v", c.Rejected)
	}
	set, err := engine.Compile(c.Rules, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := correlation.Compile(c.Correlations, c.Rules, correlation.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &graph.RuleSet{Generation: generation, Engine: set, Correlation: p}
}

// bench is a stage with correlations, and what it is given.
type bench struct {
	t           *testing.T
	stage       *Stage
	system      *actors.System
	client      *Client
	set         *graph.RuleSet
	next        *actorstest.Recorder[*graph.ResultSet]
	deadLetters *actorstest.Recorder[graph.DeadLetter]
	log         actorstest.Log
	seq         uint64
}

// newBench starts a stage. alter, unless nil, is given every instance.
func newBench(t *testing.T, rules string, alter func(*shell), options ...func(*Options)) *bench {
	t.Helper()
	b := buildBench(t, rules, options...)
	b.spawn(alter)
	return b
}

// buildBench returns a bench whose stage is not spawned yet.
func buildBench(t *testing.T, rules string, options ...func(*Options)) *bench {
	t.Helper()
	b := &bench{
		t: t, set: compiled(t, 1, rules),
		next: actorstest.NewRecorder[*graph.ResultSet](), deadLetters: actorstest.NewRecorder[graph.DeadLetter](),
	}
	o := Options{
		StageOptions: actors.StageOptions{Capacity: 10_000, DeadLetters: b.deadLetters},
		Set:          b.set, Next: b.next, Metrics: actorstest.Metrics(t, NewMetrics), Log: b.log.Logger(),
	}
	for _, f := range options {
		f(&o)
	}
	b.stage = New(o)
	return b
}

func (b *bench) spawn(alter func(*shell)) {
	b.t.Helper()
	b.system = actorstest.System(b.t, actors.Options{MaxRestarts: 10, RestartWindow: time.Minute, Log: b.log.Logger()})
	_, err := b.system.Spawn(b.stage.Cell(), func(h actors.RestartState) actor.Actor {
		sh := b.stage.Produce(h).(*shell)
		if alter != nil {
			alter(sh)
		}
		return sh
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.client = b.stage.Client()
}

// batch evaluates one event per line, at the second its field n has.
func (b *bench) batch(lines ...string) *graph.Batch {
	b.t.Helper()
	out := &graph.Batch{Seq: b.seq, Set: b.set, Arrival: time.Now().Unix(), Events: new(engine.Events), Results: new(result.Batch)}
	b.seq++
	p := b.set.Correlation
	x, source, w := correlation.NewExtractor(p), correlation.NewEventSource(p, b.set.Engine), b.set.Engine.NewWorker()
	for i, line := range lines {
		if err := w.DecodeJSON(out.Events, []byte(line)); err != nil {
			b.t.Fatal(err)
		}
		f := graph.LineOutcome{Events: graph.Span{From: uint32(i), To: uint32(i + 1)}}
		f.Results.From, f.Matches.From = uint32(out.Results.Len()), uint32(len(out.Matches))
		w.Evaluate(out.Events, i, 0, out.Results)
		f.Results.To = uint32(out.Results.Len())
		var rules []int
		for r := f.Results.From; r < f.Results.To; r++ {
			rules = append(rules, out.Results.At(int(r)).Rule.Index)
		}
		source.Open(w, out.Events, i)
		at, _ := w.Time(out.Events, i)
		if record := x.Append(nil, rules, at, source); len(record) > 0 {
			out.Matches = append(out.Matches, graph.Match{Record: record, Results: f.Results.To})
		}
		f.Matches.To = uint32(len(out.Matches))
		out.Lines = append(out.Lines, graph.Line{Raw: []byte(line)})
		out.Outcomes = append(out.Outcomes, f)
	}
	return out
}

// put gives the stage a batch and waits until it is through.
func (b *bench) put(batch *graph.Batch) {
	b.stage.Lane().TryPut([]*graph.Batch{batch})
	synctest.Wait()
}

// firings are what fired so far, as title(value)@second.
func (b *bench) firings() string {
	var out []string
	for _, l := range b.next.All() {
		for i := range l.Results {
			if r := l.Results[i].Correlation; r != nil {
				out = append(out, fmt.Sprintf("%s(%g)@%d", r.Rule.Title, r.Value, r.Time))
			}
		}
	}
	return strings.Join(out, " ")
}

func (b *bench) wantFirings(want string) {
	b.t.Helper()
	if got := b.firings(); got != want {
		b.t.Errorf("fired %q, want %q", got, want)
	}
}

func (b *bench) wantRestarts(want int64) {
	b.t.Helper()
	r, err := b.system.Record("correlate")
	if err != nil || r.Restarts != want {
		b.t.Errorf("%d restarts (%v), want %d", r.Restarts, err, want)
	}
}

func user(name string, at int) string {
	return fmt.Sprintf(`{"kind":"login","user":%q,"host":"h","timestamp":%d}`, name, at)
}

func TestResultsOfALineAreItsDetectionsAndWhatFired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, login+counting("c", "user", 2), nil)
		b.put(b.batch(user("ann", 100), `{"kind":"logout"}`, user("ann", 101), user("bob", 102)))
		got := b.next.All()
		if len(got) != 3 || len(got[1].Results) != 2 || got[1].Results[0].Detection == nil || got[1].Results[1].Correlation == nil {
			t.Fatalf("%d lists, want three, the second with a detection and a correlation", len(got))
		}
		const want = `{"rule_title":"c","rule_id":"c","level":null,"tags":[],"correlation_type":"event_count","group_key":[["user","ann"]],"aggregated_value":2,"timespan_secs":60}`
		if line := string(got[1].Results[1].AppendNative(nil)); line != want {
			t.Errorf("got %s, want %s", line, want)
		}
		if d, c := total(b.stage.metrics.detections), total(b.stage.metrics.correlations); d != 3 || c != 1 {
			t.Errorf("counted %d detections and %d correlations, want 3 and 1", d, c)
		}
		want2 := Detail{CorrelationRules: 1, StateEntries: 2, StreamClock: 102}
		if d := b.system.Detail(t.Context(), "correlate"); d != want2 {
			t.Errorf("detail %+v, want %+v", d, want2)
		}
	})
}

// breaking is an isolation whose steps and undoings break at their end.
type breaking struct {
	step.Isolate
	step, undo func()
}

func (b breaking) Step(step, undo func()) error {
	return b.Isolate.Step(func() { step(); b.step() }, func() {
		undo()
		if b.undo != nil {
			b.undo()
		}
	})
}

// broken makes the steps of every instance call step, and their undoing undo.
func broken(step, undo func()) func(*shell) {
	return func(s *shell) { s.isolate = breaking{s.isolate, step, undo} }
}

func TestAnEventThatPanicsOnceCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		b := newBench(t, login+counting("u", "user", 3)+counting("h", "host", 3), broken(func() {
			if calls++; calls == 3 {
				panic("boom") // both groups are changed
			}
		}, nil))
		b.put(b.batch(user("ann", 1), user("ann", 2), user("ann", 3)))
		b.wantFirings("u(3)@3 h(3)@3")
		b.wantRestarts(0)
		if n := len(b.deadLetters.All()); n != 0 || b.stage.Cell().Quarantined() != 0 {
			t.Errorf("%d dead letters, want none", n)
		}
		b.put(b.batch(user("ann", 4)))
		b.wantFirings("u(3)@3 h(3)@3 u(4)@4 h(4)@4")
	})
}

func TestAnEventThatPanicsTwiceLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		b := newBench(t, login+counting("u", "user", 3)+counting("h", "host", 3), broken(func() {
			if calls++; calls == 3 || calls == 4 {
				panic("boom")
			}
		}, nil))
		b.put(b.batch(user("ann", 1), user("ann", 2), user("mal", 3), user("ann", 4)))
		b.wantFirings("u(3)@4 h(3)@4")
		b.wantRestarts(0)
		got := b.deadLetters.All()
		if len(got) != 1 || got[0].Error != "panic: boom" || got[0].Stage != "correlate" || string(got[0].Original) != user("mal", 3) {
			t.Errorf("dead letters %+v, want the line's", got)
		}
		if g := b.stage.Groups(); g != 2 {
			t.Errorf("%d groups, want ann's and the host's", g)
		}
	})
}

func TestARecordThatCannotBeReadIsQuarantined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, login+counting("c", "user", 2), nil)
		batch := b.batch(user("ann", 1), user("ann", 2), user("ann", 3))
		batch.Matches[1].Record = []byte{1, 0xff}
		b.put(batch)
		b.wantFirings("c(2)@3")
		if got := b.deadLetters.All(); len(got) != 1 || !strings.Contains(got[0].Error, "match record") {
			t.Errorf("dead letters %+v, want one", got)
		}
	})
}

func TestARollbackThatPanicsCostsTheState(t *testing.T) {
	for _, tc := range []struct {
		name  string
		saved bool
		want  string
		warns string
	}{
		{"without a save the state is empty and the event counts as the first", false, "c(1)@1 c(2)@2 c(1)@3", "state lost"},
		{"with a save after the second event it is the third", true, "c(1)@1 c(2)@2 c(3)@3", "state replaced"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var view *correlation.View
				armed := false
				b := newBench(t, login+counting("c", "user", 1), broken(func() {
					if armed {
						panic("boom")
					}
				}, func() {
					armed = false
					panic("worse")
				}))
				b.put(b.batch(user("ann", 1), user("ann", 2)))
				if tc.saved {
					save := b.batch()
					save.Barrier = graph.NewBarrier(1)
					b.put(save)
					exports := save.Barrier.Exports()
					view = exports[graph.StageCorrelate].(*correlation.View)
					b.system.Saved(exports, time.Now())
				}
				armed = true
				b.put(b.batch(user("ann", 3)))
				time.Sleep(time.Second) // the back-off
				synctest.Wait()
				b.wantFirings(tc.want)
				b.wantRestarts(1)
				if len(b.log.Matching("level=WARN", tc.warns)) != 1 {
					t.Errorf("no warning %q", tc.warns)
				}
				if after, err := b.client.Export(t.Context()); err != nil || view != nil && after.Revision() <= view.Revision() {
					t.Errorf("revision %d (%v), want one above that of the save", after.Revision(), err)
				}
				if e, d := total(b.stage.metrics.processed), total(b.stage.metrics.detections); e != 3 || d != 3 {
					t.Errorf("counted %d events and %d detections, want each of three events once", e, d)
				}
				if n := b.log.Matching("batch out of order"); len(n) != 0 {
					t.Errorf("logged %q", n)
				}
			})
		})
	}
}

func TestARuleSetWithoutTrafficCarriesTheStateOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, login+counting("keep", "user", 3)+counting("gone", "user", 3)+counting("other", "user", 3), nil)
		b.put(b.batch(user("ann", 1), user("ann", 2)))
		b.set = compiled(t, 2, login+counting("other", "host", 3)+counting("keep", "user", 5))
		b.put(b.batch())
		view, err := b.client.Export(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range view.Entries(correlation.Filter{}) {
			got = append(got, fmt.Sprintf("%s %s:%d", e.ID, e.Threshold, e.ActiveGroups))
		}
		if s := strings.Join(got, ", "); s != "other >= 3:0, keep >= 5:1" {
			t.Errorf("got %s, want the new set with the state of the one whose shape is the same", s)
		}
		for id, reason := range map[string]string{"gone": "removed", "other": "shape_changed"} {
			if n := len(b.log.Matching("level=WARN", "correlation state dropped", "correlation="+id, "reason="+reason, "groups=1")); n != 1 {
				t.Errorf("%d warnings that %s is dropped, want one", n, id)
			}
		}
		b.put(b.batch(user("ann", 3), user("ann", 4), user("ann", 5)))
		b.wantFirings("other(3)@5 keep(5)@5")
		b.set = compiled(t, 3, login)
		b.put(b.batch())
		if g := b.stage.Groups(); g != 0 {
			t.Errorf("%d groups without correlations, want none", g)
		}
	})
}

func TestABarrierExportsTheStateBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, login+counting("c", "user", 3), nil)
		b.put(b.batch(user("ann", 1)))
		cut := b.batch()
		cut.Barrier = graph.NewBarrier(1)
		b.stage.Lane().TryPut([]*graph.Batch{cut, b.batch(user("bob", 2), user("cid", 3))})
		synctest.Wait()
		view, ok := cut.Barrier.Exports()[graph.StageCorrelate].(*correlation.View)
		if !ok || view.Groups() != 1 {
			t.Errorf("export %v, want a view of one group", view)
		}
		if g := b.stage.Groups(); g != 3 {
			t.Errorf("%d groups now, want 3", g)
		}
		d, err := b.system.DrainActor(t.Context(), "correlate")
		if last, ok := d.Export.(*correlation.View); err != nil || !ok || last.Groups() != 3 {
			t.Errorf("final export %v (%v), want a view of three groups", d.Export, err)
		}
	})
}

func TestWithoutCorrelationsThereIsNothingToSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, login, nil)
		cut := b.batch(user("ann", 1))
		cut.Barrier = graph.NewBarrier(1)
		b.put(cut)
		if got := cut.Barrier.Exports(); len(got) != 0 {
			t.Errorf("exports %v, want none", got)
		}
		if d, err := b.system.DrainActor(t.Context(), "correlate"); err != nil || d.Export != nil {
			t.Errorf("final export %v (%v), want none", d.Export, err)
		}
	})
}

func TestTheStageBeginsWithWhatWasRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := newBench(t, login+counting("c", "user", 3), nil)
		first.put(first.batch(user("ann", 1), user("ann", 2)))
		view, err := first.client.Export(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var saved bytes.Buffer
		if err := view.Encode(&saved, time.Now().Unix()); err != nil {
			t.Fatal(err)
		}
		b := buildBench(t, login+counting("c", "user", 3))
		if err := b.stage.Feature().Saved[0].Restore(&saved, time.Now()); err != nil {
			t.Fatal(err)
		}
		b.spawn(nil)
		if g := b.stage.Groups(); g != 1 {
			t.Errorf("%d groups before the first event, want 1", g)
		}
		b.put(b.batch(user("ann", 3)))
		b.wantFirings("c(3)@3")
	})
}

func TestGroupsExpireWithoutTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, login+counting("c", "user", 3), nil)
		b.put(b.batch(user("ann", int(time.Now().Unix()))))
		time.Sleep(50 * time.Second)
		synctest.Wait()
		if g := b.stage.Groups(); g != 1 {
			t.Errorf("%d groups within the window, want 1", g)
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if g := b.stage.Groups(); g != 0 {
			t.Errorf("%d groups after it, want none", g)
		}
		if n := total(b.stage.metrics.effects.expired); n != 1 {
			t.Errorf("counted %d expired groups, want 1", n)
		}
	})
}

// The batch may have waited: what is far-future is told by its arrival.
func TestTheFarFutureBeginsADayAfterTheArrivalOfABatch(t *testing.T) {
	const day = 24 * 60 * 60
	for _, tc := range []struct {
		name    string
		ahead   int // of the arrival
		waiting time.Duration
		clock   int64
		groups  int // left 61 s later
	}{
		{"30 days ahead", 30 * day, 0, day, 0},
		{"a day ahead", day, 0, day, 1},
		{"a second more", day + 1, 0, day, 0},
		{"a second more, in a batch that has waited", day + 1, time.Minute, day, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, login+counting("c", "user", 3), nil)
				arrival := time.Now().Unix()
				past := b.batch(user("past", int(arrival)-2*day))
				batch := b.batch(user("ann", int(arrival)+tc.ahead))
				if tc.ahead == day { // the clock stays where the group is not over
					b.put(past)
					tc.clock = -2 * day
				} else {
					past.Matches, past.Outcomes[0].Matches = nil, graph.Span{}
					b.put(past)
				}
				time.Sleep(tc.waiting)
				b.put(batch)
				if d := b.system.Detail(t.Context(), "correlate").(Detail); d.StreamClock != arrival+tc.clock {
					t.Errorf("the stream clock is at %d, want %d", d.StreamClock-arrival, tc.clock)
				}
				time.Sleep(61 * time.Second)
				synctest.Wait()
				if g := b.stage.Groups(); g != tc.groups {
					t.Errorf("%d groups 61 s later, want %d", g, tc.groups)
				}
			})
		})
	}
}

func TestWarningsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, login+counting("c", "user", 3), nil, func(o *Options) { o.Limits.Groups = 10 })
		var lines []string
		for i := range 100 {
			lines = append(lines, user(fmt.Sprint("u", i), 1000+i))
		}
		lines = append(lines, user("u99", 1), user("u99", 2))
		b.put(b.batch(lines...))
		full := b.log.Matching("level=WARN", "correlation state is full", "groups=10", "max_state_entries=10", "evicted=1", "hint=")
		if len(full) != 1 {
			t.Errorf("logged %q, want one warning", full)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if late := b.log.Matching("too late", "count=2"); len(late) != 1 {
			t.Errorf("logged %q, want one line for both", late)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if rest := b.log.Matching("level=WARN", "correlation state is full", "evicted=90", "rounds=90"); len(rest) != 1 {
			t.Errorf("logged %q, want one warning for the other rounds", rest)
		}
		e := &b.stage.metrics.effects
		if got := [4]uint64{total(e.cap), total(e.late), total(e.expired), total(e.reload)}; got != [4]uint64{91, 2, 0, 0} {
			t.Errorf("counted %v, want 91 evicted because of the limit and 2 late", got)
		}
		b.put(b.batch(user("u100", 1100), user("u100", 3)))
		b.system.Drain(t.Context())
		if late, full := b.log.Matching("too late", "count=1"), b.log.Matching("correlation state is full", "evicted=1", "rounds=1"); len(late) != 1 || len(full) != 2 {
			t.Errorf("logged %q and %q, want the end to tell what came since", late, full)
		}
	})
}

func TestTheWarningNamesTheLimitThatIsReached(t *testing.T) {
	for _, tc := range []struct {
		name   string
		limits correlation.Limits
		hint   string
	}{
		{"groups", correlation.Limits{Groups: 10}, `hint="raise max_state_entries or shorten windows"`},
		{"bytes", correlation.Limits{Bytes: 20_000}, `hint="raise max_state_bytes or shorten windows"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, login+counting("c", "user", 3), nil, func(o *Options) { o.Limits = tc.limits })
				var lines []string
				for i := range 100 {
					lines = append(lines, user(fmt.Sprint(strings.Repeat("u", 700), i), 1000+i))
				}
				b.put(b.batch(lines...))
				if full := b.log.Matching("level=WARN", "correlation state is full", tc.hint); len(full) != 1 {
					t.Errorf("logged %q", b.log.Matching("level=WARN"))
				}
				groups, bytes := b.stage.metrics.groups.Load(), b.stage.metrics.bytes.Load()
				if groups < 5 || bytes > 20_000 || bytes < groups*700 || bytes > groups*1400 {
					t.Errorf("%d groups take %d bytes", groups, bytes)
				}
				if total(b.stage.metrics.effects.cap) == 0 {
					t.Error("no eviction was counted")
				}
			})
		})
	}
}

func TestAQuestionIsRefusedAfterTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, login+counting("c", "user", 3), nil)
		if _, err := b.system.DrainActor(context.Background(), "correlate"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.client.Export(t.Context()); err == nil {
			t.Error("answered, want an error")
		}
	})
}
