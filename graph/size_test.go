package graph

import (
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation"
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
	if units, bytes := SizeOfRendered(&Rendered{Bytes: 70}); units != 1 || bytes != 70 {
		t.Errorf("what is rendered counts %d units and %d bytes, want 1 and 70", units, bytes)
	}
}
