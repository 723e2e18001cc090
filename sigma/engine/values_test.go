package engine

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/result"
)

func TestAllResultsOfAnEventShareOneCopyOfEachValue(t *testing.T) {
	const rules = 500
	fill := strings.Repeat("evil ", sigmatest.Rounds(40_000))
	repeat := func(detection string) string {
		var b strings.Builder
		for i := range rules {
			fmt.Fprintf(&b, "---\ntitle: R%d\nsigma-version: 3\ndetection: {%s, condition: sel}\n", i, detection)
		}
		return b.String()[4:]
	}
	for _, tc := range []struct {
		name, detection, line string
		o                     Options
	}{
		{"a text", `sel: {A|contains: evil}`, `{"A":"` + fill + `"}`, Options{}},
		{"a text outside ASCII", `sel: {A|contains: evil}`, `{"A":"é` + fill + `"}`, Options{}},
		{"an array", `sel: {A|contains: evil}`, `{"A":["` + fill + `","x"]}`, Options{}},
		{"several values of one name", `sel: {A.b|contains: evil}`, `{"A":[{"b":"` + fill + `"},{"b":"x"}]}`, Options{}},
		{"a position", `sel: {'A[0]|contains': evil}`, `{"A":["` + fill + `"]}`, Options{}},
		{"two fields", `sel: {A|contains: evil, B|contains: evil}`, `{"A":"` + fill + `","B":"` + fill + `"}`, Options{}},
		{"every detail", `sel: {A|contains: evil}`, `{"A":"` + fill + `"}`, Options{MatchDetail: result.Full}},
		{"keywords with every detail", `sel: [evil]`, `{"A":"` + fill + `"}`, Options{MatchDetail: result.Full}},
		{"members of an array block", `sel: {'A[any]|contains': evil}`, `{"A":["` + fill + `"]}`, Options{}},
		{"fields of members", `sel: {'A[any]': {b|contains: evil, c: x}}`, `{"A":[{"b":"` + fill + `","c":"x"}]}`, Options{}},
		{"a whole array", `sel: {'A[none]': nothing}`, `{"A":["` + fill + `"]}`, Options{}},
		{"the event", `sel: {B: x}`, `{"A":"` + fill + `","B":"x"}`, Options{IncludeEvent: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set := setOf(t, repeat(tc.detection), tc.o)
			w := set.NewWorker()
			var ev Events
			if err := w.DecodeJSON(&ev, []byte(tc.line)); err != nil {
				t.Fatal(err)
			}
			var out result.Batch
			w.Evaluate(&ev, 0, 0, &out)
			if out.Len() != rules {
				t.Fatalf("%d results, want %d", out.Len(), rules)
			}
			limit := 2*len(tc.line) + rules*1024
			if out.Held() > limit {
				t.Errorf("results hold %d bytes of an event of %d, want at most %d", out.Held(), len(tc.line), limit)
			}
			first, last := out.At(0), out.At(rules-1)
			if got, want := strings.ReplaceAll(string(last.AppendNative(nil, nil)), fmt.Sprintf("R%d", rules-1), "R0"), string(first.AppendNative(nil, nil)); got != want {
				t.Errorf("the last result says %.200s, want %.200s", got, want)
			}
		})
	}
}

// live is how many bytes are in use.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestAWorkerAtRestKeepsNothingOfUncommonEvents(t *testing.T) {
	const size = 1 << 20
	set := setOf(t, `
title: T
detection: {sel: {A|contains: evil, B|re: 'x.*y', C|fieldref|contains: A, D|contains: evil}, kw: [evil, 'e*il'], condition: 1 of *}
---
title: U
detection: {sel: {A|expand|contains: '%C%x%D%', C|re: e+}, condition: not sel}
`, Options{MatchDetail: result.Full, IncludeEvent: true})
	fill := strings.Repeat("evil ", size/5)
	for _, tc := range []struct{ name, line string }{
		{"a long text", `{"A":"` + fill + `","B":"x` + fill + `y","C":"` + fill + `","D":"` + fill + `"}`},
		{"many values", `{"A":[` + strings.Repeat(`"evil",`, size/7) + `0],"C":[` + strings.Repeat(`"e",`, size/4) + `0],"D":["x","y"]}`},
		{"many fields", `{"A":"e",` + strings.Repeat(`"x":"e",`, size/8) + `"C":0}`},
		{"texts outside ASCII", `{"A":"` + strings.Repeat("é", size/2) + `","C":["` + strings.Repeat("É", size/2) + `","x"]}`},
	} {
		w := set.NewWorker()
		var ev Events
		evaluate := func(line string) {
			ev.Reset()
			if err := w.DecodeJSON(&ev, []byte(line)); err != nil {
				t.Fatal(err)
			}
			var out result.Batch
			w.Evaluate(&ev, 0, 0, &out)
			w.Rest()
		}
		evaluate(`{"A":"evil","B":"xy","C":["e","i"],"D":["evil","e"]}`)
		ev.Reset()
		before := live()
		for range 3 {
			evaluate(tc.line)
		}
		ev.Reset()
		if after := live(); after > before+(4<<20) {
			t.Errorf("%s: a worker at rest keeps %d bytes more than before, want at most 4 MiB", tc.name, after-before)
		}
		runtime.KeepAlive(w)
		runtime.KeepAlive(&ev)
	}
}

func TestAnEventOfManyPairsLeavesNothingBehind(t *testing.T) {
	w := setOf(t, "title: T\ndetection: {sel: {a: x}, condition: sel}\n", Options{}).NewWorker()
	var ev Events
	const pairs = 200_000
	before := live()
	p := w.Pairs(&ev)
	for i := range 2 * pairs { // each key twice
		p.Add(fmt.Append(nil, i%pairs), []byte("x"))
	}
	p.End()
	ev.Reset()
	if after := live(); after > before+(2<<20) {
		t.Errorf("%d bytes are kept behind %d pairs, want at most 2 MiB", after-before, pairs)
	}
	runtime.KeepAlive(w)
}
