package state_test

import (
	"slices"
	"testing"

	"github.com/sluicehq/sluice/state"
)

func TestRangesHoldExactlyTheirSequences(t *testing.T) {
	every := func(step uint64, n int) (s []uint64) {
		for i := range n {
			s = append(s, 1_000_000+step*uint64(i))
		}
		return s
	}
	for _, tc := range []struct {
		name      string
		sequences []uint64
		numbers   int // that are stored
	}{
		{"none", nil, 0},
		{"the first sequence there can be", []uint64{0}, 2},
		{"neighbours are one range", every(1, 10_000), 2},
		{"a gap begins another range", []uint64{1, 2, 5, 6, 9}, 6},
		{"every second one", every(2, 1000), 2000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := state.RangesOf(tc.sequences)
			if got := slices.Collect(r.All()); !slices.Equal(got, tc.sequences) || len(r) != tc.numbers {
				t.Errorf("got %d sequences in %d numbers, want %d in %d", len(got), len(r), len(tc.sequences), tc.numbers)
			}
		})
	}
}

func TestTheHeadNamesWhatItsSaveCovers(t *testing.T) {
	st := open(t, t.TempDir())
	s := st.Series("save")
	commit := func(positions []state.Position, covered ...state.Covered) state.Head {
		t.Helper()
		v, err := s.Begin()
		if err != nil {
			t.Fatal(err)
		}
		v.Cover(covered)
		if err := v.Commit(1, positions...); err != nil {
			t.Fatal(err)
		}
		h, err := s.Head()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := commit([]state.Position{{Stream: "s", Sequence: 9, Time: 5}}, state.Covered{Stream: "s", Consumer: "c", Ranges: state.RangesOf([]uint64{3, 4, 9})})
	if len(h.Covered) != 1 || h.Covered[0].Consumer != "c" || !slices.Equal(slices.Collect(h.Covered[0].Ranges.All()), []uint64{3, 4, 9}) {
		t.Errorf("covered %+v, want 3, 4 and 9 of one consumer", h.Covered)
	}
	if h = commit(nil); len(h.Covered) != 0 || h.Position != nil {
		t.Errorf("the next head is %+v, want no position and nothing covered", h)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}

func TestTheHeadNamesThePositionOfEveryStream(t *testing.T) {
	s := open(t, t.TempDir()).Series("save")
	at := func(stream string, sequence uint64) state.Position {
		return state.Position{Stream: stream, Consumer: "c", Sequence: sequence, Time: int64(sequence)}
	}
	for _, cut := range [][]state.Position{nil, {at("a", 1)}, {at("a", 2), at("b", 6), {Stream: "a", Consumer: "d", Sequence: 1}}, nil} {
		v, err := s.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Commit(1, cut...); err != nil {
			t.Fatal(err)
		}
		h, err := s.Head()
		if got := h.Positions(); err != nil || !slices.Equal(got, cut) {
			t.Errorf("got %v and %v, want %v", got, err, cut)
		}
	}
}

func TestNewerPositionsTakeThePlaceOfOlderOnes(t *testing.T) {
	at := func(stream, consumer string, sequence uint64) state.Position {
		return state.Position{Stream: stream, Consumer: consumer, Sequence: sequence}
	}
	for _, tc := range []struct {
		name         string
		newer, older []state.Position
		want         []state.Position
	}{
		{"none", nil, nil, nil},
		{"no newer ones", nil, []state.Position{at("a", "c", 1)}, []state.Position{at("a", "c", 1)}},
		{"of the same consumer", []state.Position{at("a", "c", 2)}, []state.Position{at("a", "c", 1)}, []state.Position{at("a", "c", 2)}},
		{"of another consumer", []state.Position{at("a", "d", 2)}, []state.Position{at("a", "c", 1)}, []state.Position{at("a", "d", 2), at("a", "c", 1)}},
		{"of another stream", []state.Position{at("b", "c", 2)}, []state.Position{at("a", "c", 1)}, []state.Position{at("b", "c", 2), at("a", "c", 1)}},
		{"of a head that did not name consumers", []state.Position{at("a", "c", 2)}, []state.Position{at("a", "", 1)}, []state.Position{at("a", "c", 2)}},
	} {
		if got := state.NewerPositions(tc.newer, tc.older); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}
