package alert

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/result"
)

const folding = "dedup: {fingerprint: [match.SourceIp], repeat_interval: 60s, resolve_timeout: 120s}"

func TestWithoutAFileResultsPassUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "").spawn()
		r.put(detection("a", "high", ".1"), detection("b", "", ""))
		r.put(detection("a", "high", ".1"))
		b := graph.NewBarrier(1)
		r.send(&graph.ResultSet{Barrier: b})
		until(10 * time.Minute)
		r.wantPassed("a+b a barrier")
		r.wantSettled(0, 0)
		if got := b.Exports(); len(got) != 0 {
			t.Errorf("exports %v, want none: what is stored stays as it is", got)
		}
		r.wantMetrics(map[string]float64{"alert_pipeline_duration_seconds": 0, "dedup_results_total{emitted}": 0})
	})
}

func TestEverySeriesIsThereFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "")
		want := map[string]float64{
			"dedup_results_total{emitted}": 0, "dedup_results_total{folded}": 0, "dedup_results_total{repeat}": 0, "dedup_results_total{resolved}": 0,
			"dedup_store_entries": 0, "dedup_evictions_total": 0, "dedup_summaries_emitted_total": 0, "incidents_open": 0,
			"incidents_emitted_total{group_wait}": 0, "incidents_emitted_total{group_interval}": 0, "incidents_emitted_total{repeat}": 0,
			"incidents_emitted_total{resolved}": 0, "incident_results_total": 0, "incident_overmerge_total{stop_value}": 0,
			"incident_overmerge_total{cardinality_ceiling}": 0, "silenced_total": 0, "silences_active": 0, "inhibit_sources_active": 0,
			"alert_pipeline_duration_seconds": 0,
		}
		r.wantMetrics(want)
		if got := r.metrics(); len(got) != len(want) {
			t.Errorf("%d series, want %d: %v", len(got), len(want), got)
		}
	})
}

func TestResultsThatRepeatAreFoldedAndTheirLinesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, folding).spawn()
		r.put(detection("ssh", "high", ".1"))
		until(5 * time.Second)
		r.put(detection("ssh", "high", ".1"))                                 // folded
		r.put(detection("ssh", "high", ".1"), detection("ssh", "high", ".2")) // the second goes on
		r.put(detection("ssh", "high", ".2"), detection("ssh", "high", ".1")) // nothing goes on
		r.send(&graph.ResultSet{Record: note{}})                              // is none of its business
		r.wantPassed("ssh ssh note:(0)")
		r.wantSettled(0, 1, 0, 1)
		r.wantMetrics(map[string]float64{
			"dedup_results_total{emitted}": 2, "dedup_results_total{folded}": 4, "dedup_store_entries": 2, "alert_pipeline_duration_seconds": 4,
		})
		until(56 * time.Second) // 61 s behind the first
		r.wantPassed("ssh ssh note:(0) alert_summary:repeat(4)")
		until(140 * time.Second)
		r.wantPassed("ssh ssh note:(0) alert_summary:repeat(4) alert_summary:repeat(2) alert_summary:resolved(4) alert_summary:resolved(2)")
		r.wantMetrics(map[string]float64{
			"dedup_results_total{repeat}": 2, "dedup_results_total{resolved}": 2, "dedup_evictions_total": 2, "dedup_summaries_emitted_total": 4,
			"dedup_store_entries": 0,
		})
	})
}

type note struct{}

func (note) AppendNative(dst []byte) []byte { return append(dst, "{}"...) }
func (note) Kind() graph.Kind               { return "note" }

func TestWhatIsInhibitedOrOutOfScopeIsCountedAsThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, `
scope: {levels: [critical, high]}
inhibit_rules:
- {name: loud, source_match: [{selector: level, value: critical}], target_match: [{selector: level, value: high}], equal: [match.SourceIp]}
silences:
- {matchers: [{selector: rule, value: mute}]}
dedup: {fingerprint: [rule]}
`).spawn()
		r.put(detection("a", "critical", ".1"))
		r.put(detection("b", "high", ".1"))
		r.put(detection("b", "low", ".1"))
		r.put(detection("mute", "high", ".2"))
		r.wantPassed("a b")
		r.wantSettled(0, 1, 0, 1)
		until(time.Second)
		r.wantMetrics(map[string]float64{
			"inhibited_total{loud}": 1, "inhibit_sources_active": 1, "silenced_total": 1, "silences_active": 1, "dedup_results_total{emitted}": 1,
		})
		d, ok := r.system.Detail(t.Context(), "alert").(Detail)
		want := `{Silence:{Active:1 Total:1} Inhibit:{Rules:1 Sources:1} Dedup:{ActiveAlerts:1}}`
		if got := fmt.Sprintf("{Silence:%+v Inhibit:%+v Dedup:%+v}", d.Silence, *d.Inhibit, *d.Dedup); !ok || got != want || d.Group != nil {
			t.Errorf("detail %s, want %s and no incidents", got, want)
		}
	})
}

// While the next stage has no room nothing is due: the records of a tick wait, and there is
// no further tick.
func TestThereIsNoTickWhileRecordsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "dedup: {fingerprint: [match.SourceIp], resolve_timeout: 10s}").spawn()
		for i := range 5 {
			r.put(detection("ssh", "", fmt.Sprint(i)))
		}
		r.next.SetAvailable(2)
		until(11 * time.Second) // five are due, and two have room
		r.wantMetrics(map[string]float64{"dedup_results_total{resolved}": 5})
		r.put(detection("ssh", "", "6")) // waits behind the records
		until(time.Hour)
		if d, ok := r.system.Detail(t.Context(), "alert").(Detail); !ok || d.Dedup.ActiveAlerts != 0 {
			t.Errorf("detail %+v, want an answer: no result is taken meanwhile", d)
		}
		r.next.SetAvailable(-1)
		until(0)
		r.wantPassed("ssh ssh ssh ssh ssh" + strings.Repeat(" alert_summary:resolved(1)", 5) + " ssh")
	})
}

// explode is a question that panics.
type explode struct{ applying bool }

// fragile is a shell that can be made to panic.
type fragile struct{ *shell }

func (f fragile) Receive(c actor.Context) {
	m, ok := c.Message().(explode)
	switch {
	case !ok:
		f.shell.Receive(c)
	case m.applying:
		f.isolate.Apply(func() { panic("half way") })
	default:
		panic("a question")
	}
}

// broken is a result that makes selectors panic.
func broken() graph.Result { return graph.Result{Detection: &result.Detection{}} }

func TestAPoisonousLineIsQuarantinedAndItsNeighboursGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, folding).spawn()
		r.put(detection("ssh", "", ".1"))
		r.put(detection("ssh", "", ".1"), broken(), detection("ssh", "", ".3"))
		r.put(detection("ssh", "", ".2"))
		r.wantPassed("ssh ssh")
		letters := r.deadLetters.All()
		if len(letters) != 1 || string(letters[0].Original) != "line 1" || letters[0].Stage != "alert" || !strings.HasPrefix(letters[0].Error, "panic: ") {
			t.Fatalf("dead letters %+v, want that of line 1", letters)
		}
		letters[0].Token.Settle()
		r.wantSettled(0, 1, 0)
		r.wantMetrics(map[string]float64{"dedup_results_total{folded}": 1}) // once, although the line was tried twice
		if rec, err := r.system.Record("alert"); err != nil || rec.Restarts != 0 {
			t.Errorf("record %+v, %v, want no restart", rec, err)
		}
	})
}

// A panic that does not come again costs nothing: the results before it do not count twice.
func TestALineThatPanicsOnceIsTriedAgainFromWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, folding)
		r.spawnAs(func(a *shell) actor.Actor {
			step, attempts := a.step, 0
			a.step = func() {
				if attempts++; attempts > 1 {
					step()
					return
				}
				all := a.work.set.Results
				a.work.set.Results = all[:2]
				step()
				a.work.set.Results = all
				panic("at the third result")
			}
			return a
		})
		r.put(detection("a", "", ".1"), detection("b", "", ".1"), detection("c", "", ".2"), detection("d", "", ".2"))
		r.wantPassed("a+b+c+d")
		if len(r.deadLetters.All()) != 0 {
			t.Errorf("dead letters %+v, want none", r.deadLetters.All())
		}
		r.wantMetrics(map[string]float64{"dedup_results_total{emitted}": 4, "dedup_results_total{folded}": 0, "dedup_store_entries": 4})
	})
}

func TestResultsThatALimitRefusesAreToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "dedup: {fingerprint: [match.SourceIp], max_active_alerts: 1}").spawn()
		for i := range 4 {
			r.put(detection("ssh", "", fmt.Sprint(i)))
		}
		const text = "too many alerts are active"
		if got := r.log.Matching("level=WARN", text, "results=1 "); len(got) != 1 || len(r.log.Matching(text)) != 1 {
			t.Errorf("logged %q, want one warning of one result", r.log.Matching(text))
		}
		until(70 * time.Second)
		if got := r.log.Matching(text, "results=2 "); len(got) != 1 || len(r.log.Matching(text)) != 2 {
			t.Errorf("logged %q, want a second warning of the two that followed", r.log.Matching(text))
		}
		r.wantMetrics(map[string]float64{"dedup_results_total{emitted}": 4})
	})
}

func TestSourcesThatHaveToGoAreToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "inhibit_rules: [{source_match: [{selector: rule, value: ssh}], target_match: [{selector: rule, value: b}], equal: [match.SourceIp]}]").spawn()
		large := strings.Repeat("x", 1<<20)
		for i := range 66 { // 63 of them have room
			r.put(detection("ssh", "", large+fmt.Sprint(i)))
		}
		const text = "too many sources inhibit"
		if got := r.log.Matching("level=WARN", text, "sources=1 "); len(got) != 1 || len(r.log.Matching(text)) != 1 {
			t.Errorf("logged %q, want one warning of one source", r.log.Matching(text))
		}
		until(time.Second)
		r.wantMetrics(map[string]float64{"inhibit_sources_active": 63})
		until(70 * time.Second)
		if got := r.log.Matching(text, "sources=2 "); len(got) != 1 || len(r.log.Matching(text)) != 2 {
			t.Errorf("logged %q, want a second warning of the two that followed", r.log.Matching(text))
		}
	})
}

func TestTheStateSurvivesAPanicThatLeftItWholeAndOneThatDidNotIsReplaced(t *testing.T) {
	for _, tc := range []struct {
		name   string
		saved  bool
		apply  bool // the panic comes while the state is changed
		passed string
	}{
		{"a question that panics costs nothing", false, false, "ssh"},
		{"without a save the state is lost", false, true, "ssh ssh"},
		{"a save brings it back", true, true, "ssh barrier"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, folding+"\nsilences: [{id: s, matchers: [{selector: rule, value: x}]}]")
				r.spawnAs(func(a *shell) actor.Actor { return fragile{a} })
				made, err := r.client.AddSilence(t.Context(), spec("rule", "y"))
				if err != nil {
					t.Fatal(err)
				}
				r.put(detection("ssh", "", ".1"))
				if tc.saved {
					b := graph.NewBarrier(1)
					r.send(&graph.ResultSet{Barrier: b})
					r.system.Saved(b.Exports(), time.Now())
				}
				before := r.passed()
				if _, err := mailbox.Ask[any](t.Context(), r.client.actor, explode{tc.apply}); !errors.Is(err, mailbox.ErrPanicked) {
					t.Fatalf("got %v, want a panic", err)
				}
				until(500 * time.Millisecond) // the restart
				r.put(detection("ssh", "", ".1"))
				want := before
				if tc.passed == "ssh ssh" {
					want += " ssh"
				}
				r.wantPassed(want)
				all, _, err := r.client.Silences(t.Context())
				if err != nil || len(all) != 2 || all[0].ID != "s" || all[1].ID != made.ID {
					t.Errorf("silences %v, %v, want that of the file and %s", all, err, made.ID)
				}
			})
		})
	}
}

func TestTheLastTickIsBehindTheLastResultAndBeforeTheExport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "dedup: {fingerprint: [match.SourceIp], resolve_timeout: 1s}", func(o *Options) { o.Kept = true }).spawn()
		until(900 * time.Millisecond)
		r.put(detection("ssh", "", ".1"))
		time.Sleep(1050 * time.Millisecond) // the next tick comes when the daemon has ended
		d := r.Cell().Drain()
		<-d.Done()
		view, lost := d.Finish()
		r.wantPassed("ssh alert_summary:resolved(1)")
		var saved strings.Builder
		if err := view.(actors.View).Encode(&saved, 0); err != nil || lost != 0 || !strings.Contains(saved.String(), `"dedup":[]`) {
			t.Errorf("saved %s, %v, want no alert", &saved, err)
		}
	})
}

func TestTheClockThatIsSetIsToldOnce(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name string
		wall time.Duration // behind noon, when a second has passed
		set  bool
	}{
		{"a second later", time.Second, false},
		{"a minute late", 61 * time.Second, false},
		{"more than a minute forward", 62 * time.Second, true},
		{"a day back", -24 * time.Hour, true},
		{"a day forward", 24 * time.Hour, true},
	} {
		var c clock
		if _, set := c.at(noon, time.Hour); set {
			t.Errorf("%s: the first reading is a jump", tc.name)
		}
		from, set := c.at(noon.Add(tc.wall), time.Hour+time.Second)
		if set != tc.set || !from.Equal(noon.Add(time.Second)) {
			t.Errorf("%s: set %t from %s, want %t", tc.name, set, from, tc.set)
		}
		if _, set := c.at(noon.Add(tc.wall+time.Second), time.Hour+2*time.Second); set {
			t.Errorf("%s: it is told again", tc.name)
		}
	}
}

func TestAnotherFileServesFromTheNextResultOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, folding).spawn()
		r.put(detection("ssh", "", ".1"))
		if err := r.client.configure(t.Context(), parse(t, "{}")); err != nil {
			t.Fatal(err)
		}
		r.put(detection("ssh", "", ".1"))
		r.wantPassed("ssh alert_summary:resolved(1) ssh")
		r.wantMetrics(map[string]float64{"dedup_store_entries": 0, "dedup_results_total{resolved}": 1, "dedup_evictions_total": 1})
	})
}
