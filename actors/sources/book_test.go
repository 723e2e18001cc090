package sources

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/sources/fetch"
)

var (
	noon   = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	failed = &fetch.Error{Source: "f", Kind: fetch.Fetch, Detail: "no route"}
)

func TestWhichValueCounts(t *testing.T) {
	const old, last, next = `"current"`, `"last"`, `"next"`
	withDefault := func(text string) func(*fetch.Declaration) {
		return func(d *fetch.Declaration) { d.OnError, d.Default = fetch.UseDefault, []byte(text) }
	}
	for _, tc := range []struct {
		name    string
		declare []func(*fetch.Declaration)
		last    string // "" for none
		value   string
		failure *fetch.Error
		pending bool

		basis         basis
		current, kept string // afterwards
		unresolved    bool   // an operation that needs the value fails
	}{
		{name: "a success replaces both values", last: last, value: next, basis: fresh, current: next, kept: next},
		{name: "a success without a value before", value: next, basis: fresh, current: next, kept: next},
		{name: "null is a value", last: last, value: `null`, basis: fresh, current: "", kept: `null`},
		{name: "a failure falls back to the last value", last: last, failure: failed, basis: cached, current: last, kept: last},
		{name: "a failure without a last value keeps a required source as it is", failure: failed, basis: unresolved, current: old, unresolved: true},
		{name: "and makes an optional one null", declare: []func(*fetch.Declaration){optional}, failure: failed, basis: unresolved, current: ""},
		{name: "the default is used and not kept", declare: []func(*fetch.Declaration){withDefault(`[1]`)}, last: last, failure: failed, basis: fallback, current: `[1]`, kept: last},
		{name: "the default of an optional source", declare: []func(*fetch.Declaration){withDefault(`[1]`), optional}, failure: failed, basis: fallback, current: `[1]`},
		{name: "a default of null", declare: []func(*fetch.Declaration){withDefault(`null`)}, failure: failed, basis: fallback, current: ""},
		{name: "without a fallback a required source keeps its value", declare: []func(*fetch.Declaration){onError(fetch.Fail)}, last: last, failure: failed, basis: unresolved, current: old, kept: last, unresolved: true},
		{name: "and an optional one is null whatever is cached", declare: []func(*fetch.Declaration){onError(fetch.Fail), optional}, last: last, failure: failed, basis: unresolved, current: "", kept: last},
		{name: "no message yet is null", pending: true, basis: pending, current: ""},
		{name: "no message yet leaves the last one", last: last, pending: true, basis: pending, current: last, kept: last},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, rounded := range []bool{false, true} {
				b := newBook([]*fetch.Declaration{declared("f", tc.declare...)})
				e := b.byID["f"]
				e.current, e.id = []byte(old), identityOf([]byte(old))
				if tc.last != "" {
					e.last, e.lastID = []byte(tc.last), identityOf([]byte(tc.last))
				}
				r := newRound(1)
				if rounded {
					b.gather(r)
				} else {
					b.want(e, request{refresh: true})
				}
				b.start()
				f := b.finish(outcome{entry: e, value: fetch.Value{JSON: []byte(tc.value), Pending: tc.pending}, id: identityOf([]byte(tc.value)), failure: tc.failure}, noon)
				if f.value.basis != tc.basis {
					t.Errorf("basis %d, want %d", f.value.basis, tc.basis)
				}
				if rounded {
					if e.version != 0 || string(e.current) != old {
						t.Errorf("a round changed the value to %s before it was committed", e.current)
					}
					if (r.err() != nil) != tc.unresolved {
						t.Errorf("the error of the round is %v", r.err())
					}
					if tc.unresolved {
						continue
					}
					if later := b.commit(r); len(later) != 0 {
						t.Errorf("%v have changed since", later)
					}
				} else if f.kept != tc.unresolved || f.changed != (tc.current != old) {
					t.Errorf("kept %t, changed %t", f.kept, f.changed)
				}
				if string(e.last) != tc.kept || identityOf(e.current) != identityOf([]byte(tc.current)) {
					t.Errorf("in a round %t: current %s, last %s; want %s and %s", rounded, e.current, e.last, tc.current, tc.kept)
				}
				if want := tc.basis == fresh && tc.last != tc.value; f.stored != want {
					t.Errorf("stored %t, want %t", f.stored, want)
				}
			}
		})
	}
}

// A fetch of a source of push brings a message that its subscription brings, too, and perhaps
// others behind it.
func TestAFetchBringsNoMessageOverNewerOnes(t *testing.T) {
	got := func(text string) outcome {
		return outcome{value: fetch.Value{JSON: []byte(text)}, id: identityOf([]byte(text))}
	}
	for _, tc := range []struct {
		name    string
		during  []string // messages of the subscription; "" forgets the last one
		outcome outcome
		want    string
		basis   basis
	}{
		{"without messages it counts", nil, got(`1`), `1`, fresh},
		{"messages that came meanwhile stay", []string{`1`, `2`}, got(`1`), `2`, pending},
		{"also when it brings the newest", []string{`1`, `2`}, got(`2`), `2`, pending},
		{"but not what was forgotten then", []string{`2`, ""}, got(`1`), `1`, fresh},
		{"also when it has none", []string{`1`}, outcome{value: fetch.Value{Pending: true}}, `1`, pending},
		{"also when it fails", []string{`1`}, outcome{failure: failed}, `1`, cached},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, rounded := range []bool{false, true} {
				b := newBook([]*fetch.Declaration{declared("f", refreshed(fetch.Push))})
				e := b.byID["f"]
				b.receive(e, []byte(`0`), identityOf([]byte(`0`))) // before
				r := newRound(1)
				if rounded {
					b.gather(r)
				} else {
					b.want(e, request{refresh: true})
				}
				b.start()
				for _, text := range tc.during {
					if text == "" {
						b.forget(e)
						continue
					}
					b.receive(e, []byte(text), identityOf([]byte(text)))
				}
				tc.outcome.entry = e
				f := b.finish(tc.outcome, noon)
				if rounded {
					if later := b.commit(r); len(later) != 0 {
						t.Errorf("%v have changed since", later)
					}
				}
				if f.value.basis != tc.basis || string(e.current) != tc.want || string(e.last) != tc.want {
					t.Errorf("in a round %t: current %s, last %s and basis %d, want %s and %d", rounded, e.current, e.last, f.value.basis, tc.want, tc.basis)
				}
			}
		})
	}
}

// ids starts what may run and lists it.
func (b *book) ids() string {
	var ids []string
	for _, e := range b.start() {
		ids = append(ids, e.ID)
	}
	return strings.Join(ids, " ")
}

func (b *book) done(id string, now time.Time) effect {
	return b.finish(outcome{entry: b.byID[id], value: fetch.Value{JSON: []byte(`1`)}, id: identityOf([]byte(`1`))}, now)
}

func manyDeclared(n int, change ...func(*fetch.Declaration)) (all []*fetch.Declaration) {
	for i := range n {
		all = append(all, declared(fmt.Sprintf("s%d", i), change...))
	}
	return all
}

func TestEightFetchesRunAtOnceAndOneOfEachSource(t *testing.T) {
	b := newBook(manyDeclared(10))
	if !b.all() {
		t.Fatal("the first request for all is refused")
	}
	if got := b.ids(); got != "s0 s1 s2 s3 s4 s5 s6 s7" {
		t.Fatalf("%s begin", got)
	}
	if b.all() {
		t.Error("a second request for all is taken while the first is under way")
	}
	b.want(b.byID["s0"], request{refresh: true})
	b.want(b.byID["s0"], request{refresh: true})
	if got := b.ids(); got != "" {
		t.Errorf("%s begin, too", got)
	}
	b.done("s3", noon)
	if got := b.ids(); got != "s8" {
		t.Errorf("%s begins, want who waits longest", got)
	}
	b.done("s4", noon)
	b.done("s5", noon)
	if got := b.ids(); got != "s9" {
		t.Errorf("%s begins, want no source twice", got)
	}
	b.done("s0", noon)
	if got := b.ids(); got != "s0" {
		t.Errorf("%s begins, want what was asked for meanwhile, once", got)
	}
	for _, id := range []string{"s0", "s1", "s2", "s6", "s7", "s8", "s9"} {
		if b.open == 0 {
			t.Errorf("the request for all has ended before %s", id)
		}
		b.done(id, noon)
	}
	if b.open != 0 || b.running != 0 || b.ids() != "" {
		t.Errorf("%d of the request are open and %d run at the end", b.open, b.running)
	}
	if !b.all() {
		t.Error("the next request for all is refused")
	}
}

func TestARoundBeginsAfterFetchesThatRun(t *testing.T) {
	b := newBook(manyDeclared(2))
	b.want(b.byID["s0"], request{refresh: true})
	b.ids()
	r := newRound(2)
	b.gather(r)
	if got := b.ids(); got != "s1" {
		t.Fatalf("%s begins", got)
	}
	if f := b.done("s0", noon); len(f.finished) != 0 || r.left != 2 {
		t.Error("a fetch from before counts in the round")
	}
	b.done("s1", noon)
	if got := b.ids(); got != "s0" {
		t.Fatalf("%s begins, want a fetch after the trigger", got)
	}
	if f := b.done("s0", noon); !slices.Equal(f.finished, []*round{r}) {
		t.Error("the round is not complete")
	}
}

func TestWhatComesAfterARoundStays(t *testing.T) {
	b := newBook(manyDeclared(3))
	r := newRound(3)
	b.gather(r)
	b.ids()
	for _, id := range []string{"s0", "s1", "s2"} {
		b.done(id, noon)
	}
	message := func(id, json string) {
		b.receive(b.byID[id], []byte(json), identityOf([]byte(json)))
	}
	message("s0", `2`)
	message("s1", `1`)
	if later := b.commit(r); !slices.Equal(later, []string{"s0"}) {
		t.Errorf("%v have other values since, want s0", later)
	}
	for id, want := range map[string]string{"s0": `2`, "s1": `1`, "s2": `1`} {
		if got := string(b.snapshot().Values()[id].JSON); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}

func TestEveryRequiredSourceWithoutAValueIsNamed(t *testing.T) {
	b := newBook([]*fetch.Declaration{declared("a"), declared("b"), declared("c", optional), declared("d")})
	r := newRound(4)
	b.gather(r)
	b.start()
	for _, id := range []string{"d", "c", "b", "a"} {
		o := outcome{entry: b.byID[id], failure: &fetch.Error{Source: id, Kind: fetch.Timeout}}
		if id == "b" {
			o = outcome{entry: b.byID[id], value: fetch.Value{JSON: []byte(`1`)}, id: identityOf([]byte(`1`))}
		}
		b.finish(o, noon)
	}
	const want = "2 required sources have no value:\nsource 'a': timed out\nsource 'd': timed out"
	if err := r.err(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWhenSourcesAreFetched(t *testing.T) {
	type step struct {
		at    time.Duration // since the timers began
		begin string        // that begins then
		end   string        // that ends right after it
		fails bool
	}
	for _, tc := range []struct {
		name     string
		declared []*fetch.Declaration
		failed   string // in the round of the start
		steps    []step
	}{
		{
			name: "an interval, first after itself", declared: []*fetch.Declaration{declared("f", every(10*time.Second))},
			steps: []step{{at: 10 * time.Second, begin: "f", end: "f"}, {at: 20 * time.Second, begin: "f", end: "f"}},
		},
		{
			name: "an interval below a second is one", declared: []*fetch.Declaration{declared("f", every(500*time.Millisecond))},
			steps: []step{{at: time.Second, begin: "f", end: "f"}, {at: 2 * time.Second, begin: "f", end: "f"}},
		},
		{
			name: "ticks that fall into a fetch are skipped", declared: []*fetch.Declaration{declared("f", every(10*time.Second))},
			steps: []step{{at: 10 * time.Second, begin: "f"}, {at: 20 * time.Second}, {at: 30 * time.Second, end: "f"}, {at: 40 * time.Second, begin: "f", end: "f"}},
		},
		{
			name: "neither once nor on demand", declared: []*fetch.Declaration{declared("f"), declared("g", refreshed(fetch.OnDemand)), declared("h", refreshed(fetch.Push))},
		},
		{
			name: "a failure of the start is retried until it succeeds", declared: []*fetch.Declaration{declared("f", optional)}, failed: "f",
			steps: []step{
				{at: 5 * time.Second, begin: "f", end: "f", fails: true},
				{at: 15 * time.Second, begin: "f", end: "f", fails: true},
				{at: 35 * time.Second, begin: "f", end: "f", fails: true},
				{at: 75 * time.Second, begin: "f", end: "f", fails: true},
				{at: 155 * time.Second, begin: "f", end: "f", fails: true},
				{at: 315 * time.Second, begin: "f", end: "f", fails: true},
				{at: 615 * time.Second, begin: "f", end: "f", fails: true},
				{at: 915 * time.Second, begin: "f", end: "f"},
			},
		},
		{
			name: "that of a required source is, which has a fallback", declared: []*fetch.Declaration{declared("f"), declared("g", refreshed(fetch.OnDemand))}, failed: "f",
			steps: []step{
				{at: 5 * time.Second, begin: "f", end: "f", fails: true},
				{at: 15 * time.Second, begin: "f", end: "f", fails: true},
				{at: 35 * time.Second, begin: "f", end: "f", fails: true},
				{at: 75 * time.Second, begin: "f", end: "f", fails: true},
				{at: 155 * time.Second, begin: "f", end: "f"},
			},
		},
		{
			name: "retries and an interval side by side", declared: []*fetch.Declaration{declared("f", optional, every(12*time.Second))}, failed: "f",
			steps: []step{
				{at: 5 * time.Second, begin: "f", end: "f", fails: true},
				{at: 12 * time.Second, begin: "f", end: "f", fails: true},
				{at: 15 * time.Second, begin: "f", end: "f", fails: true},
				{at: 24 * time.Second, begin: "f", end: "f"}, // and no retry at 35 s
				{at: 36 * time.Second, begin: "f", end: "f"},
				{at: 48 * time.Second, begin: "f", end: "f"},
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBook(tc.declared)
			for _, e := range b.entries {
				b.want(e, request{refresh: true})
				b.start()
				o := outcome{entry: e, value: fetch.Value{JSON: []byte(`1`)}}
				if e.ID == tc.failed {
					o = outcome{entry: e, failure: failed}
				}
				b.finish(o, noon)
			}
			if !b.wake().IsZero() {
				t.Fatal("there is a timer before the start is over")
			}
			b.begin(noon)
			for _, s := range tc.steps {
				now := noon.Add(s.at)
				if at := b.wake(); !at.Equal(now) {
					t.Fatalf("wakes after %s, want %s", at.Sub(noon), s.at)
				}
				b.due(now)
				if got := b.ids(); got != s.begin {
					t.Fatalf("after %s %q begins, want %q", s.at, got, s.begin)
				}
				if s.end != "" {
					o := outcome{entry: b.byID[s.end], value: fetch.Value{JSON: []byte(`1`)}}
					if s.fails {
						o = outcome{entry: o.entry, failure: failed}
					}
					b.finish(o, now)
				}
			}
			if len(tc.steps) == 0 && !b.wake().IsZero() {
				t.Errorf("wakes after %s, want never", b.wake().Sub(noon))
			}
		})
	}
}

func TestALateTimerMakesUpForNothing(t *testing.T) {
	b := newBook([]*fetch.Declaration{declared("f", every(time.Second))})
	b.begin(noon)
	b.due(noon.Add(3500 * time.Millisecond))
	if got := b.ids(); got != "f" {
		t.Errorf("%q begins", got)
	}
	if at := b.wake(); !at.Equal(noon.Add(4 * time.Second)) {
		t.Errorf("the next tick is after %s, want 4s", at.Sub(noon))
	}
}

func TestChangesOfAFileAreCollected(t *testing.T) {
	b := newBook([]*fetch.Declaration{declared("f", refreshed(fetch.Watch))})
	e := b.byID["f"]
	b.notice(e, noon)
	if !b.wake().IsZero() {
		t.Fatal("a change counts before the timers run")
	}
	b.begin(noon)
	b.notice(e, noon)
	b.notice(e, noon.Add(60*time.Millisecond))
	if at := b.wake(); !at.Equal(noon.Add(100 * time.Millisecond)) {
		t.Fatalf("it is read after %s, want 100ms", at.Sub(noon))
	}
	b.due(noon.Add(100 * time.Millisecond))
	if got := b.ids(); got != "f" {
		t.Fatalf("%q begins", got)
	}
	b.notice(e, noon.Add(110*time.Millisecond)) // while it is read
	b.due(noon.Add(210 * time.Millisecond))
	if got := b.ids(); got != "" {
		t.Fatalf("%q begins beside itself", got)
	}
	b.done("f", noon.Add(220*time.Millisecond))
	if got := b.ids(); got != "f" {
		t.Errorf("%q begins, want it to be read again", got)
	}
}
