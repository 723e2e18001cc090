package wheel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestItemsComeOutInTheSecondTheyAreDue(t *testing.T) {
	for _, tc := range []struct {
		name string
		due  []int64
		to   int64
		want []int64
	}{
		{"nothing is due before its second", []int64{5, 6}, 4, nil},
		{"its own second is enough", []int64{5, 6}, 5, []int64{5}},
		{"a jump over years releases all in order", []int64{900_000_000, 3, 64, 4096, 65}, 1 << 40, []int64{3, 64, 65, 4096, 900_000_000}},
		{"the far end of time can wait", []int64{1 << 62}, 1 << 61, nil},
		{"what is overdue comes at the next second", []int64{-3, 0}, 1, []int64{-3, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var w Wheel[int64]
			for _, d := range tc.due {
				w.Add(d, d)
			}
			var got []int64
			w.Advance(tc.to, func(d int64) { got = append(got, d) })
			if !slices.Equal(got, tc.want) {
				t.Errorf("advance to %d: got %v, want %v", tc.to, got, tc.want)
			}
		})
	}
}

func TestManyItemsAgainstASortedList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var w Wheel[int64]
	var waiting []int64
	now := int64(1_700_000_000)
	w.Advance(now, func(int64) {})
	for range 2000 {
		for range r.IntN(5) {
			due := now + 1 + r.Int64N(1<<r.IntN(40))
			w.Add(due, due)
			waiting = append(waiting, due)
		}
		now += r.Int64N(1 << r.IntN(20))
		var got, want []int64
		w.Advance(now, func(d int64) { got = append(got, d) })
		slices.Sort(waiting)
		i, _ := slices.BinarySearch(waiting, now+1)
		want, waiting = slices.Clone(waiting[:i]), slices.Delete(waiting, 0, i)
		if !slices.Equal(got, want) {
			t.Fatalf("at %d: got %v, want %v", now, got, want)
		}
		if w.Len() != len(waiting) {
			t.Fatalf("at %d: got %d waiting, want %d", now, w.Len(), len(waiting))
		}
	}
}

func TestItemsComeOutInTheSameOrderHoweverFewAtATime(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var whole, pieces Wheel[int64]
	now := int64(1_700_000_000)
	for range 300 {
		for range r.IntN(20) {
			due := now + 1 + r.Int64N(1<<r.IntN(40))
			whole.Add(due, due)
			pieces.Add(due, due)
		}
		now += r.Int64N(1 << r.IntN(20))
		var got, want []int64
		whole.Advance(now, func(d int64) { want = append(want, d) })
		limit := 1 + r.IntN(3)
		for there := false; !there; {
			before := len(got)
			there = pieces.AdvanceSome(now, limit, func(d int64) { got = append(got, d) })
			if len(got)-before > limit {
				t.Fatalf("at %d: %d came out at once, limit %d", now, len(got)-before, limit)
			}
			if r.IntN(4) == 0 { // what comes meanwhile waits like the rest
				due := now + 1 + r.Int64N(1000)
				whole.Add(due, due)
				pieces.Add(due, due)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("at %d: got %v, want %v", now, got, want)
		}
		if pieces.Len() != whole.Len() {
			t.Fatalf("at %d: got %d waiting, want %d", now, pieces.Len(), whole.Len())
		}
	}
}

func TestItemsOfASlotInHandArePrunedToo(t *testing.T) {
	var w Wheel[int64]
	for value := range int64(100) {
		w.Add(7, value)
	}
	var got []int64
	w.AdvanceSome(7, 10, func(v int64) { got = append(got, v) })
	w.Prune(func(v int64) bool { return v >= 95 })
	if w.Len() != 5 {
		t.Errorf("got %d items, want 5", w.Len())
	}
	w.Advance(7, func(v int64) { got = append(got, v) })
	if want := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 95, 96, 97, 98, 99}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPrunedItemsDoNotComeOut(t *testing.T) {
	var w Wheel[int64]
	for due := range int64(1000) {
		w.Add(due*due, due*due)
	}
	w.Prune(func(due int64) bool { return due%2 == 1 })
	if w.Len() != 500 {
		t.Errorf("got %d items, want 500", w.Len())
	}
	count := 0
	w.Advance(1<<40, func(due int64) {
		if count++; due%2 == 0 {
			t.Errorf("%d came out", due)
		}
	})
	if count != 500 || w.Len() != 0 {
		t.Errorf("got %d items out and %d left, want 500 and none", count, w.Len())
	}
}

func BenchmarkAddAndRelease(b *testing.B) {
	var w Wheel[int]
	b.ReportAllocs()
	now := int64(0)
	for b.Loop() {
		w.Add(now+300, 1)
		now++
		w.Advance(now, func(int) {})
	}
}
