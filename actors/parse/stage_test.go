package parse

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/filter"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/sigma/engine"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

type rig struct {
	stage       *Stage
	client      *Client
	system      *actors.System
	next        *actorstest.Recorder[*graph.Batch]
	deadLetters *actorstest.Recorder[graph.DeadLetter]
}

func ruleSet(t *testing.T, generation uint64) *graph.RuleSet {
	t.Helper()
	set, err := engine.Compile(nil, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &graph.RuleSet{Generation: generation, Engine: set}
}

// newRig builds a stage; spawn starts it.
func newRig(t *testing.T, o Options) *rig {
	t.Helper()
	r := &rig{
		next: actorstest.NewRecorder[*graph.Batch](), deadLetters: actorstest.NewRecorder[graph.DeadLetter](),
		system: actorstest.System(t, actors.Options{MaxRestarts: 10}),
	}
	if o.Inputs == nil {
		o.Inputs = []Input{{Decoder: new(format.Decoder)}}
	}
	o.Set, o.Next, o.Log = ruleSet(t, 1), r.next, (&actorstest.Log{}).Logger()
	o.Metrics = actorstest.Metrics(t, NewMetrics)
	o.Capacity, o.BatchSize = max(1, o.Capacity), max(1, o.BatchSize)
	r.stage = New(o)
	return r
}

func (r *rig) spawn(t *testing.T) {
	t.Helper()
	if _, err := r.system.Spawn(r.stage.Cell(), r.stage.Produce); err != nil {
		t.Fatal(err)
	}
	r.client = r.stage.Client()
}

func raws(texts ...string) (run []graph.Line) {
	for _, text := range texts {
		run = append(run, graph.Line{Raw: []byte(text)})
	}
	return run
}

// describe writes batches as "seq/generation: lines".
func describe(batches []*graph.Batch) string {
	var b strings.Builder
	for _, batch := range batches {
		set := batch.Set
		if batch.Publication != nil {
			set = batch.Publication.Set()
		}
		fmt.Fprintf(&b, "%d/%d:", batch.Seq, set.Generation)
		for _, l := range batch.Lines {
			fmt.Fprintf(&b, " %s", l.Raw)
		}
		if batch.Barrier != nil {
			b.WriteString(" barrier")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestBatchesAreWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{StageOptions: actors.StageOptions{Capacity: 100}, BatchSize: 3, Workers: 2})
		r.stage.Lane().TryPut(raws("a", "b", "c", "d", "e"))
		r.spawn(t)
		synctest.Wait()
		r.stage.Lane().TryPut(raws("f"))
		synctest.Wait()
		if err := r.client.Publish(t.Context(), ruleSet(t, 2)); err != nil {
			t.Fatal(err)
		}
		if err := r.client.Cut(t.Context(), graph.NewBarrier(1)); err != nil {
			t.Fatal(err)
		}
		r.stage.Lane().TryPut(raws("g"))
		synctest.Wait()
		if got, want := describe(r.next.All()), "0/1: a b c\n1/1: d e\n2/1: f\n3/2:\n4/2: barrier\n5/2: g\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		b := r.next.All()[0]
		if b.Arrival != time.Now().Unix() || b.Bytes != 3 || b.Events.Len() != 3 {
			t.Errorf("arrival %d, %d bytes, %d events, want now, 3 and 3", b.Arrival, b.Bytes, b.Events.Len())
		}
	})
}

func TestTheBatchSizeFollowsTheCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{StageOptions: actors.StageOptions{Capacity: 100}, BatchSize: 50})
		r.spawn(t)
		for _, tc := range []struct{ capacity, want int }{{100, 50}, {20, 20}, {64, 50}} {
			if _, err := r.system.Resize("parse", tc.capacity); err != nil {
				t.Fatal(err)
			}
			d, _ := r.system.Detail(t.Context(), "parse").(Detail)
			if d.BatchSize != tc.want {
				t.Errorf("capacity %d: batch size %d, want %d", tc.capacity, d.BatchSize, tc.want)
			}
		}
	})
}

func TestStructuredLinesAreJSONWhateverTheFormat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{StageOptions: actors.StageOptions{Capacity: 10}, BatchSize: 10, Inputs: []Input{{Decoder: &format.Decoder{Format: format.Plain}}}})
		run := raws(`{"a":1}`, `{"a":1}`)
		run[0].Structured = true
		r.stage.Lane().TryPut(run)
		r.spawn(t)
		synctest.Wait()
		ev := r.next.All()[0].Events
		if got := fmt.Sprint(ev.Kind(0), ev.Kind(1)); got != "json plain" {
			t.Errorf("got %s, want json plain", got)
		}
	})
}

func TestAFullQueueIsToldOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{}) // not started: nothing leaves the queue, which has room for one
		var log actorstest.Log
		r.stage.o.Log = log.Logger()
		in := r.stage.Intake("test", time.Now)
		wait := func(lines int) {
			ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
			defer cancel()
			if _, err := in.Put(ctx, raws(make([]string, lines)...)); err == nil {
				t.Error("more lines were admitted than there is room for")
			}
		}
		for _, lines := range []int{3, 2, 1} { // at 0, 6 and 12 s
			wait(lines)
		}
		got := log.Matching("input queue full")
		if len(got) != 2 || !strings.Contains(got[0], "source=test lines=2") || !strings.Contains(got[1], "source=test lines=3") {
			t.Errorf("logged %q, want one line at once and one for what came since", got)
		}
		if n := r.stage.metrics.waited.Load(); n != 5 {
			t.Errorf("%d lines had to wait, want 5", n)
		}
	})
}

func TestOversizeLines(t *testing.T) {
	for _, withDLQ := range []bool{true, false} {
		t.Run(fmt.Sprintf("with a dead letter queue: %t", withDLQ), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Options{})
				if withDLQ {
					r.stage.o.DeadLetters = r.deadLetters
				}
				settled := 0
				token := graph.NewReceipt(1, func() { settled++ }).Token(0)
				if err := r.stage.Intake("test", time.Now).Oversize(t.Context(), []byte("head"), token); err != nil {
					t.Fatal(err)
				}
				if r.stage.metrics.parseErrors.Load() != 1 {
					t.Errorf("%d parse errors, want 1", r.stage.metrics.parseErrors.Load())
				}
				if got := r.deadLetters.All(); withDLQ && (len(got) != 1 || got[0].Stage != "ingest" || string(got[0].Original) != "head" || settled != 0) {
					t.Errorf("dead letters %+v, settled %d, want one of stage ingest that keeps the token", got, settled)
				} else if !withDLQ && settled != 1 {
					t.Errorf("settled %d times, want once", settled)
				}
			})
		})
	}
}

func TestLinesThatLookLikeBrokenJSONAreToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{StageOptions: actors.StageOptions{Capacity: 100}, BatchSize: 10, Inputs: []Input{{Source: "http", Decoder: new(format.Decoder)}}})
		var log actorstest.Log
		r.stage.o.Log = log.Logger()
		r.spawn(t)
		for _, run := range [][]string{ // at 0, 40 and 80 s
			{`[{"a":1},{"a":2}]`, `{"a":1}{"b":2}`, `{"user":"secret"`, `plain`},
			{`{bad`, `[x] text`, `{"a":1}`},
			{`{"a":1} x`, `7`},
		} {
			r.stage.Lane().TryPut(raws(run...))
			synctest.Wait()
			time.Sleep(40 * time.Second)
		}
		got := log.Matching("begin like JSON")
		want := []string{
			"lines=1 source=http length=16 offset=16 fault=\"line ends inside a value\"",
			"lines=3 source=http length=9 offset=8 fault=\"value is neither an object nor an array\"",
		}
		if len(got) != len(want) || !strings.Contains(got[0], want[0]) || !strings.Contains(got[1], want[1]) {
			t.Errorf("logged %q, want one line at once and one a minute later for all since: %q", got, want)
		}
		if strings.Contains(strings.Join(got, ""), "secret") {
			t.Errorf("the log shows the text of a line: %q", got)
		}
		if n, errs := r.stage.metrics.suspects.Load(), r.stage.metrics.parseErrors.Load(); n != 4 || errs != 0 {
			t.Errorf("%d suspects and %d parse errors, want 4 and none", n, errs)
		}
	})
}

func TestJSONInTheFormatSyslogIsTold(t *testing.T) {
	for _, own := range []bool{false, true} {
		t.Run(fmt.Sprintf("with a format of its own: %t", own), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Options{StageOptions: actors.StageOptions{Capacity: 100}, BatchSize: 10, Inputs: []Input{
					{Source: "syslog+udp://:514", Decoder: &format.Decoder{Format: format.Syslog}, Own: own},
				}})
				var log actorstest.Log
				r.stage.o.Log = log.Logger()
				r.spawn(t)
				for range 3 { // at 0, 40 and 80 s
					r.stage.Lane().TryPut(raws(`{"user":"secret"}`, ` [{}]`, `<34>Oct 11 22:14:15 host su: {"a":1}`, `text {}`))
					synctest.Wait()
					time.Sleep(40 * time.Second)
				}
				setting := `hint="set --input-format to auto or json"`
				if own {
					setting = `hint="set ?format= of this input to auto or json"`
				}
				const what = `msg="lines begin like JSON and have no header of syslog, and were taken as plain text" lines=%d source=syslog+udp://:514 length=5 `
				got := log.Matching("level=WARN")
				if len(got) != 2 || !strings.Contains(got[0], fmt.Sprintf(what, 2)+setting) || !strings.Contains(got[1], fmt.Sprintf(what, 4)+setting) {
					t.Errorf("logged %q, want one line at once and one a minute later for all since, with %s", got, setting)
				}
				if n := r.stage.metrics.suspects.Load(); n != 6 {
					t.Errorf("%d suspects, want 6", n)
				}
			})
		})
	}
}

func TestLinesThatAreNotReadAreToldOnceAMinute(t *testing.T) {
	for _, withDLQ := range []bool{false, true} {
		t.Run(fmt.Sprintf("with a dead letter queue: %t", withDLQ), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Options{
					StageOptions: actors.StageOptions{Capacity: 100}, BatchSize: 10, Inputs: []Input{{Source: "http", Decoder: &format.Decoder{Format: format.JSON}, Own: withDLQ}},
				})
				var log actorstest.Log
				r.stage.o.Log = log.Logger()
				if withDLQ {
					r.stage.o.DeadLetters = r.deadLetters
				}
				r.spawn(t)
				in := r.stage.Intake("http", time.Now)
				for _, run := range [][]string{ // at 0, 40 and 80 s
					{`{"a":1}`, `<34>Oct 11 22:14:15 mymachine su: 'su root' failed`},
					{`{bad`, `{}`},
					{"\x1f\x8b\x08", `{"password":"hunter2"`},
				} {
					if err := in.Oversize(t.Context(), []byte(`{"password":"`), graph.Token{}); err != nil {
						t.Fatal(err)
					}
					r.stage.Lane().TryPut(raws(run...))
					synctest.Wait()
					time.Sleep(40 * time.Second)
				}
				got := log.Matching("level=WARN")
				want := []string{
					`msg="lines are too long and were refused" lines=1 source=http`,
					`msg="lines could not be decoded and are lost" lines=1 source=http format=json length=50 outline="<99>aaa`,
					`msg="lines are too long and were refused" lines=2 source=http`,
					`msg="lines could not be decoded and are lost" lines=3 source=http format=json length=21 outline="{\"aaaaaaaa\":\"aaaaaa9\"" offset=21 fault="line ends inside a value"`,
				}
				if withDLQ {
					want[1], want[3] = strings.Replace(want[1], "are lost", "are dead letters", 1), strings.Replace(want[3], "are lost", "are dead letters", 1)
				}
				if len(got) != len(want) {
					t.Fatalf("logged %q, want %q", got, want)
				}
				for i := range want {
					if !strings.Contains(got[i], want[i]) || strings.Contains(got[i], "--dlq keeps") == withDLQ || strings.Contains(got[i], "hunter2") {
						t.Errorf("logged %q, want %q, with what to do and without what the line says", got[i], want[i])
					}
				}
				setting := `hint="--input-format says how lines are written`
				if withDLQ { // it has a format of its own then
					setting = `hint="?format= of this input says how lines are written"`
				}
				if !strings.Contains(got[1], setting) || !strings.Contains(got[3], setting) {
					t.Errorf("logged %q, want %s", got, setting)
				}
				if n := r.stage.ParseErrors(); n != 7 {
					t.Errorf("%d parse errors, want 7", n)
				}
			})
		})
	}
}

func TestALineOfSeveralEventsIsOneLineOfItsBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{StageOptions: actors.StageOptions{Capacity: 100}, BatchSize: 10})
		r.stage.Lane().TryPut(raws(`[{"a":1},{"a":2}]`, `{"a":1}{"b":2}`, `[]`, `[x] text`))
		r.spawn(t)
		synctest.Wait()
		b := r.next.All()[0]
		var events []int
		for _, o := range b.Outcomes {
			events = append(events, o.Events.Len())
		}
		if got := fmt.Sprint(len(b.Lines), events); got != "4 [2 2 0 1]" {
			t.Errorf("lines and their events: %s, want 4 [2 2 0 1]", got)
		}
	})
}

func TestTheEventFilterTellsThatItLeavesNothing(t *testing.T) {
	for _, tc := range []struct {
		name  string
		runs  [][]string // 40 s apart
		want  []int      // lines of the warnings
		empty int64
	}{
		{"something of every line", [][]string{{`{"keep":1}`}, {`{"keep":2}`}}, nil, 0},
		{"nothing of some lines", [][]string{{`{"keep":1}`, `{}`}, {`{}`, `{"keep":2}`}}, nil, 2},
		{"nothing of any line, said once a minute", [][]string{{`{}`, `{}`}, {`{}`}, {`{}`}, {`{}`}}, []int{2, 2}, 5},
		{"nothing any more for a minute", [][]string{{`{"keep":1}`}, {`{}`}, {`{}`}, {`{}`}}, []int{1}, 3},
		{"nothing for a while", [][]string{{`{"keep":1}`}, {`{}`}, {`{"keep":2}`}, {`{}`}}, nil, 2},
		{"lines that cannot be read are no matter of the filter", [][]string{{`{`}, {`{`}}, nil, 0},
		{"log records too", [][]string{{`{"structured":1}`}}, []int{1}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events, err := filter.Compile(".keep", "")
				if err != nil {
					t.Fatal(err)
				}
				r := newRig(t, Options{StageOptions: actors.StageOptions{Capacity: 100}, BatchSize: 10, Inputs: []Input{
					{Source: "a", Decoder: &format.Decoder{Format: format.JSON, Filter: events}},
				}})
				var log actorstest.Log
				r.stage.o.Log = log.Logger()
				r.spawn(t)
				for _, run := range tc.runs {
					lines := raws(run...)
					lines[0].Structured = strings.Contains(run[0], "structured")
					r.stage.Lane().TryPut(lines)
					synctest.Wait()
					time.Sleep(40 * time.Second)
				}
				var want []string
				for _, n := range tc.want {
					want = append(want, fmt.Sprintf(`msg="event filter leaves no event of any line" lines=%d `, n))
				}
				got := log.Matching("event filter leaves")
				if len(got) != len(want) {
					t.Fatalf("logged %q, want %q", got, want)
				}
				for i := range want {
					if !strings.Contains(got[i], "level=WARN") || !strings.Contains(got[i], want[i]) {
						t.Errorf("logged %q, want %q", got[i], want[i])
					}
				}
				if n := r.stage.metrics.filterEmpty.Load(); n != tc.empty {
					t.Errorf("%d lines counted, want %d", n, tc.empty)
				}
			})
		})
	}
}

func TestTheEventFilterTellsWhatItCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, err := filter.Compile(`if . == 0 then 1 / . else ., ("a" * 1e9) end`, "")
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, Options{StageOptions: actors.StageOptions{Capacity: 100}, BatchSize: 10, Inputs: []Input{
			{Source: "a", Decoder: &format.Decoder{Format: format.JSON, Filter: events}}, {Source: "b", Decoder: &format.Decoder{Format: format.JSON, Filter: events}},
		}})
		var log actorstest.Log
		r.stage.o.Log = log.Logger()
		r.spawn(t)
		for range 3 { // at 0, 40 and 80 s
			r.stage.Lane().TryPut(raws("0", "1", "2"))
			synctest.Wait()
			time.Sleep(40 * time.Second)
		}
		got := log.Matching("level=WARN")
		const what = `msg="event filter went beyond its bounds and was ended, and what it brought before stands" lines=`
		if len(got) != 2 || !strings.Contains(got[0], what+`2 err="the program needs too much memory"`) || !strings.Contains(got[1], what+"4") {
			t.Errorf("logged %q, want one line at once and one a minute later for all since", got)
		}
		if debug := log.Matching("level=DEBUG"); len(debug) != 3 || !strings.Contains(debug[0], "event filter failed, and what it brought before stands") {
			t.Errorf("logged %q, want each error at debug", debug)
		}
		m := r.stage.metrics
		if cut, failed, errs := m.filterCuts.Load(), m.filterErrors.Load(), m.parseErrors.Load(); cut != 6 || failed != 3 || errs != 0 {
			t.Errorf("%d cut, %d failed, %d parse errors, want 6, 3 and none", cut, failed, errs)
		}
		for _, b := range r.next.All() {
			if b.Events.Len() != 2 {
				t.Errorf("%d events, want what was in front of the bound", b.Events.Len())
			}
		}
	})
}
