package engine

import (
	"bytes"
	"testing"

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
	c, err := load.Load([]string{sigmatest.RuleDir(t, "rules")}, load.Options{})
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

func TestFocusesAreFew(t *testing.T) {
	var f focuses
	for i := range uint64(2 * maxFocuses) {
		slot, number, first := f.slot([]uint64{i})
		if want := i < maxFocuses; first != want || (slot != nil) != want || want && number != uint32(i)+1 {
			t.Errorf("route %d: slot %v, number %d, first %v", i, slot, number, first)
		}
	}
	if slot, _, first := f.slot([]uint64{1}); slot == nil || first {
		t.Errorf("known route: slot %v, first %v; want the one that exists", slot, first)
	}
}
