package graph

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/result"
)

func TestSizesCountWhatIsHeld(t *testing.T) {
	var from ResultArenas
	arena := from.Get(1, 2)
	arena.Begin()
	arena.Add(Result{Detection: new(result.Detection)})
	arena.Add(Result{Correlation: new(correlation.Result)})
	set := arena.List(Token{})
	size := func() int { _, bytes := SizeOfResultSet(set); return bytes }

	structs := size()
	if structs < 2*32 {
		t.Errorf("a set of two results counts %d bytes, want those of two structs", structs)
	}
	set.Raw = make([]byte, 100)
	set.Held += 1000
	set.Enrich(1, make([]byte, 50))
	set.Enrich(1, make([]byte, 20))
	if got, want := size(), structs+100+1000+20; got != want {
		t.Errorf("a set counts %d bytes, want %d: line, results and the last enrichments", got, want)
	}
	if units, bytes := SizeOfBatch(&Batch{Lines: make([]Line, 3), Bytes: 100, Held: 1000}); units != 3 || bytes != 1100 {
		t.Errorf("a batch counts %d units and %d bytes, want 3 and 1100", units, bytes)
	}
	if units, bytes := SizeOfBundle(&Bundle{Sets: make([]Rendered, 2), Bytes: 70}); units != 2 || bytes != 70 {
		t.Errorf("a bundle of two sets counts %d units and %d bytes, want 2 and 70", units, bytes)
	}
}

func TestABatchCountsItsEvents(t *testing.T) {
	set, err := engine.Compile(nil, engine.Options{Fields: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	w := set.NewWorker()
	for _, tc := range []struct {
		name        string
		line        string
		least, most int // bytes of the events, for each of the line
	}{
		{"nothing that rules look at", `{"b":[` + strings.Repeat("1,", 50_000) + `1]}`, 0, 1},
		{"a long value", `{"a":"` + strings.Repeat("x", 100_000) + `"}`, 0, 1},
		{"many values", `{"a":[` + strings.Repeat("1,", 50_000) + `1]}`, 5, 20},
	} {
		b := &Batch{Events: new(engine.Events), Bytes: len(tc.line), Lines: make([]Line, 1)}
		if err := w.DecodeJSON(b.Events, []byte(tc.line)); err != nil {
			t.Fatal(err)
		}
		_, bytes := SizeOfBatch(b)
		if got := (bytes - len(tc.line)) / len(tc.line); got < tc.least || got > tc.most {
			t.Errorf("%s: a line of %d bytes counts %d, want between %d and %d times as much more", tc.name, len(tc.line), bytes, tc.least, tc.most)
		}
		b.Events.Reset()
		if _, bytes := SizeOfBatch(b); bytes != len(tc.line) {
			t.Errorf("%s: %d bytes without events, want those of the line", tc.name, bytes)
		}
	}
}
