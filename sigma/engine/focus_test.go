package engine

import (
	"bytes"
	"testing"

	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
	"github.com/sluicehq/sluice/sigma/sigmatest"
)

// laneResults judges lines and returns the result lines.
func laneResults(t *testing.T, w *Worker, lines [][]byte) []byte {
	t.Helper()
	var events Events
	var batch result.Batch
	for _, line := range lines {
		if err := w.DecodeJSON(&events, line); err != nil {
			t.Fatal(err)
		}
	}
	for i := range events.Len() {
		w.Evaluate(&events, i, 0, &batch)
	}
	var out []byte
	for i := range batch.Len() {
		out = append(batch.At(i).AppendNative(out, nil), '\n')
	}
	return out
}

func TestFocusedRoutesAnswerAlike(t *testing.T) {
	c, err := load.Load(t.Context(), []string{sigmatest.RuleDir(t, "rules")}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	compile := func() *Set {
		s, err := Compile(c.Rules, Options{Routing: DefaultRouting(), MatchDetail: result.Full})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	set, whole := compile(), compile()
	set.focuses.after, whole.focuses.after = 10, 0
	w, all := set.NewWorker(), whole.NewWorker()
	for _, lane := range sigmatest.Lanes() {
		lines := sigmatest.Lane(t, lane)
		lines = lines[:min(len(lines), 3000)]
		got, want := laneResults(t, w, lines), laneResults(t, all, lines)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: results differ: got %d bytes, want %d", lane, len(got), len(want))
		}
	}
	if n := len(set.focuses.slots); n < 3 || len(whole.focuses.slots) != 0 {
		t.Errorf("%d routes have a focus, want those of several lanes; %d where it is off", n, len(whole.focuses.slots))
	}
}

func TestFocusesBuiltBesideTheTrafficAnswerAlike(t *testing.T) {
	c, err := load.Load(t.Context(), []string{sigmatest.RuleDir(t, "rules")}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var some []*sigma.Rule
	for i := 0; i < len(c.Rules); i += 8 {
		some = append(some, c.Rules[i])
	}
	var given []func()
	set, err := Compile(some, Options{Routing: DefaultRouting(), Beside: func(work func()) { given = append(given, work) }})
	if err != nil {
		t.Fatal(err)
	}
	set.focuses.after = 10
	w := set.NewWorker()
	judge := func() (out []byte) {
		for _, lane := range sigmatest.Lanes() {
			lines := sigmatest.Lane(t, lane)
			out = append(out, laneResults(t, w, lines[:min(len(lines), 100)])...)
		}
		return out
	}
	built := func() (n int) {
		for _, s := range set.focuses.slots {
			if s.built.Load() != nil {
				n++
			}
		}
		return n
	}
	before := judge()
	if len(given) != 1 || built() != 0 || len(set.focuses.slots) < 3 {
		t.Fatalf("%d pieces of work were given away, %d of %d focuses built; want one piece for several focuses, and none built", len(given), built(), len(set.focuses.slots))
	}
	given[0]()
	if got, want := built(), len(set.focuses.slots); got != want {
		t.Errorf("%d focuses are built after the work, want %d", got, want)
	}
	if after := judge(); !bytes.Equal(before, after) {
		t.Errorf("results differ: %d bytes before the work, %d after", len(before), len(after))
	}
	if len(given) != 1 {
		t.Errorf("%d pieces of work were given away for the same routes, want 1", len(given))
	}
}

func TestFocusesAreFew(t *testing.T) {
	var f focuses
	for i := range uint64(2 * maxFocuses) {
		slot, build := f.slot([]uint64{i})
		if want := i < maxFocuses; (slot != nil) != want || build != (i == 0) || want && slot.number != uint32(i)+1 {
			t.Errorf("route %d: slot %v, to be built by the caller %v", i, slot, build)
		}
	}
	if slot, build := f.slot([]uint64{1}); slot == nil || build {
		t.Errorf("known route: slot %v, to be built %v; want the one that exists", slot, build)
	}
	for i := range uint32(maxFocuses) {
		if s := f.next(); s == nil || s.number != i+1 {
			t.Fatalf("slot %d to be built is %v, want them in order", i, s)
		}
	}
	if s := f.next(); s != nil || f.building {
		t.Errorf("after the last slot: %v, building %v; want an end", s, f.building)
	}
}
