package age

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestOrderAgainstAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var order Order
	at := map[uint32]int64{}
	now := func(slot uint32) int64 { return at[slot] }
	for step := range 20_000 {
		slot := uint32(r.IntN(50))
		second := r.Int64N(1 + int64(step)/100)
		_, known := at[slot]
		switch {
		case !known:
			order.Insert(slot, second)
			at[slot] = second
		case r.IntN(3) == 0:
			order.Remove(slot)
			delete(at, slot)
		default: // only what has become less is told
			if second < at[slot] {
				order.Lower(slot, second)
			}
			at[slot] = second
		}
		if r.IntN(4) > 0 {
			continue
		}
		first, ok := order.First(now)
		if ok != (len(at) > 0) {
			t.Fatalf("step %d: got first %v, want %v", step, ok, len(at) > 0)
		}
		if !ok {
			continue
		}
		want := slices.MinFunc(values(at), cmp.Compare[int64])
		var slots []uint32
		for s, second := range at {
			if second == want {
				slots = append(slots, s)
			}
		}
		slices.Sort(slots)
		if got := order.Sorted(first, now, cmp.Compare[uint32]); first != want || !slices.Equal(got, slots) {
			t.Fatalf("step %d: got second %d with %v, want %d with %v", step, first, got, want, slots)
		}
	}
}

func values(m map[uint32]int64) []int64 {
	var list []int64
	for _, v := range m {
		list = append(list, v)
	}
	return list
}

func TestSecondsThatAreGoneAreForgotten(t *testing.T) {
	var order Order
	order.Insert(0, 0)
	for second := range int64(100_000) {
		if first, ok := order.First(func(uint32) int64 { return second }); !ok || first != second {
			t.Fatalf("got first %d, want %d", first, second)
		}
	}
	if got := len(order.seconds); got > 1000 {
		t.Errorf("got %d seconds kept for one slot", got)
	}
}

func TestTheSlotYieldedMayBeRemoved(t *testing.T) {
	var order Order
	for slot := range uint32(5) {
		order.Insert(slot, 7)
	}
	now := func(uint32) int64 { return 7 }
	for slot := range order.Of(7, now) {
		order.Remove(slot)
	}
	if _, ok := order.First(now); ok {
		t.Error("something is left")
	}
}
