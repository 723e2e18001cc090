package engine

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

// laneResults evaluates lines and returns the result lines.
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

func TestIndexedRoutesAnswerAlike(t *testing.T) {
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
	set.indexes.after, whole.indexes.after = 10, 0
	w, all := set.NewWorker(), whole.NewWorker()
	for _, lane := range sigmatest.Lanes() {
		lines := sigmatest.Lane(t, lane)
		lines = lines[:min(len(lines), sigmatest.Rounds(3000))]
		got, want := laneResults(t, w, lines), laneResults(t, all, lines)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: results differ: got %d bytes, want %d", lane, len(got), len(want))
		}
	}
	if n := len(set.indexes.slots); n < 3 || len(whole.indexes.slots) != 0 {
		t.Errorf("%d routes have an index, want those of several lanes; %d where it is off", n, len(whole.indexes.slots))
	}
}

func TestIndexesBuiltInTheBackgroundAnswerAlike(t *testing.T) {
	c, err := load.Load(t.Context(), []string{sigmatest.RuleDir(t, "rules")}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var some []*ast.Rule
	for i := 0; i < len(c.Rules); i += 8 {
		some = append(some, c.Rules[i])
	}
	var given []func()
	set, err := Compile(some, Options{Routing: new(Routing), Background: func(work func()) { given = append(given, work) }})
	if err != nil {
		t.Fatal(err)
	}
	set.indexes.after = 10
	w := set.NewWorker()
	judge := func() (out []byte) {
		for _, lane := range sigmatest.Lanes() {
			lines := sigmatest.Lane(t, lane)
			out = append(out, laneResults(t, w, lines[:min(len(lines), 100)])...)
		}
		return out
	}
	built := func() (n int) {
		for _, s := range set.indexes.slots {
			if s.built.Load() != nil {
				n++
			}
		}
		return n
	}
	before := judge()
	if len(given) != 1 || built() != 0 || len(set.indexes.slots) < 3 {
		t.Fatalf("%d pieces of work were given away, %d of %d indexes built; want one piece for several indexes, and none built", len(given), built(), len(set.indexes.slots))
	}
	given[0]()
	if got, want := built(), len(set.indexes.slots); got != want {
		t.Errorf("%d indexes are built after the work, want %d", got, want)
	}
	if after := judge(); !bytes.Equal(before, after) {
		t.Errorf("results differ: %d bytes before the work, %d after", len(before), len(after))
	}
	if len(given) != 1 {
		t.Errorf("%d pieces of work were given away for the same routes, want 1", len(given))
	}
}

func TestARetiredSetBuildsNoIndex(t *testing.T) {
	var given []func()
	set := smallSet(t, Options{Background: func(work func()) { given = append(given, work) }})
	route := func(n uint64) {
		set.routeIndex(&route{conflict: []uint64{n}, pruned: 8, events: set.indexes.after - 1})
	}
	route(1)
	route(2)
	set.Retire()
	for _, work := range given {
		work()
	}
	for key, s := range set.indexes.slots {
		if s.built.Load() != nil {
			t.Errorf("the index of route %x was built", key)
		}
	}
	route(3)
	if len(given) != 1 || len(set.indexes.slots) != 2 {
		t.Errorf("%d pieces of work were given away for %d routes, want one for two: none after the end", len(given), len(set.indexes.slots))
	}
}

func TestAnIndexIsGivenUpBetweenTwoFields(t *testing.T) {
	set, asked := smallSet(t, Options{}), 0
	over := func() bool { asked++; return asked == 2 }
	if got := newMatchers(set.plan, wanted{stopped: over}); got != nil || asked != 2 {
		t.Errorf("got %v after %d questions, want nothing after two", got, asked)
	}
}

func TestAPanicInTheBackgroundIsToldOnce(t *testing.T) {
	var told []string
	set := smallSet(t, Options{OnPanic: func(value any, stack []byte) {
		told = append(told, fmt.Sprint(value))
		if !bytes.Contains(stack, []byte("buildRouteIndex")) {
			t.Errorf("the stack does not show where it was:\n%s", stack)
		}
	}})
	set.indexes.waiting = []*indexSlot{{number: 1}, {number: 2}} // of another set: they name too few rules
	set.buildRouteIndexes()
	if len(told) != 1 || !strings.Contains(told[0], "index out of range") {
		t.Errorf("told %q, want the first panic", told)
	}
	if got := laneResults(t, set.NewWorker(), [][]byte{[]byte(`{"A":"evil"}`)}); len(got) == 0 {
		t.Error("the set does not evaluate any more")
	}
}

func smallSet(t *testing.T, o Options) *Set {
	t.Helper()
	c := load.FromBytes("r.yml", []byte("title: T\ndetection: {s: {A|contains: evil, B|contains: worse}, t: {A: evil}, condition: s or t}\n"), load.Options{})
	set, err := Compile(c.Rules, o)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestRouteIndexesAreFew(t *testing.T) {
	var f routeIndexes
	for i := range uint64(2 * maxRouteIndexes) {
		slot, build := f.slot([]uint64{i}, false)
		if want := i < maxRouteIndexes; (slot != nil) != want || build != (i == 0) || want && slot.number != uint32(i)+1 {
			t.Errorf("route %d: slot %v, to be built by the caller %v", i, slot, build)
		}
	}
	if slot, build := f.slot([]uint64{1}, false); slot == nil || build {
		t.Errorf("known route: slot %v, to be built %v; want the one that exists", slot, build)
	}
	for i := range uint32(maxRouteIndexes) {
		if s := f.next(); s == nil || s.number != i+1 {
			t.Fatalf("slot %d to be built is %v, want them in order", i, s)
		}
	}
	if s := f.next(); s != nil || f.building {
		t.Errorf("after the last slot: %v, building %v; want an end", s, f.building)
	}
}
