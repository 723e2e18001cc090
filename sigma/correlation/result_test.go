package correlation

import "testing"

func TestAResultTellsWhatItHolds(t *testing.T) {
	bare := new(Result).Held()
	for _, tc := range []struct {
		name     string
		r        Result
		min, max int // beyond a bare result
	}{
		{"a key", Result{Key: []Pair{{"field", "value"}}}, 10, 60},
		{"events", Result{Events: [][]byte{make([]byte, 1000), make([]byte, 500)}}, 1500, 1600},
		{"references", Result{Refs: []EventRef{{ID: "0123456789", HasID: true}, {}}}, 26, 100},
	} {
		if got := tc.r.Held() - bare; got < tc.min || got > tc.max {
			t.Errorf("%s: %d bytes more than a bare result, want %d to %d", tc.name, got, tc.min, tc.max)
		}
	}
	if bare < 64 {
		t.Errorf("a bare result holds %d bytes, want those of its struct", bare)
	}
}
