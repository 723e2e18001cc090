package rank

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// check compares every rank with a sorted list.
func check(t *testing.T, tree *Tree, sorted []float64) {
	t.Helper()
	if tree.Len() != len(sorted) {
		t.Fatalf("got %d numbers, want %d", tree.Len(), len(sorted))
	}
	for k, want := range sorted {
		if got := tree.At(k); got != want {
			t.Fatalf("rank %d of %d: got %v, want %v", k, len(sorted), got, want)
		}
	}
}

func TestRanksEqualTheSortedList(t *testing.T) {
	for _, tc := range []struct {
		name   string
		domain int
		peak   int
	}{
		{"few distinct values", 5, 500},
		{"values seldom repeat", 1 << 30, 1000},
		{"several levels", 20_000, 12_000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			var tree Tree
			var sorted []float64
			step := func(grow bool) {
				if grow || len(sorted) == 0 {
					v := float64(r.IntN(tc.domain) - tc.domain/2)
					i, _ := slices.BinarySearch(sorted, v)
					sorted = slices.Insert(sorted, i, v)
					tree.Insert(v)
					return
				}
				i := r.IntN(len(sorted))
				if !tree.Delete(sorted[i]) {
					t.Fatalf("lost %v", sorted[i])
				}
				sorted = slices.Delete(sorted, i, i+1)
			}
			for len(sorted) < tc.peak {
				step(r.IntN(4) > 0)
			}
			check(t, &tree, sorted)
			for len(sorted) > 0 {
				step(r.IntN(4) == 0)
				if len(sorted)%997 == 0 {
					check(t, &tree, sorted)
				}
			}
			check(t, &tree, sorted)
		})
	}
}

func TestDeletingWhatIsNotThereChangesNothing(t *testing.T) {
	var tree Tree
	if tree.Delete(1) {
		t.Error("an empty tree gave up a number")
	}
	tree.Insert(2)
	if tree.Delete(1) {
		t.Error("got a number that was never put in")
	}
	check(t, &tree, []float64{2})
}

func FuzzRanks(f *testing.F) {
	f.Add([]byte{1, 2, 3, 130, 2, 2})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var tree Tree
		var sorted []float64
		for _, b := range raw {
			v := float64(b & 0x7f)
			i, found := slices.BinarySearch(sorted, v)
			if b < 0x80 {
				tree.Insert(v)
				sorted = slices.Insert(sorted, i, v)
				continue
			}
			if got := tree.Delete(v); got != found {
				t.Fatalf("delete %v: got %v, want %v", v, got, found)
			}
			if found {
				sorted = slices.Delete(sorted, i, i+1)
			}
		}
		check(t, &tree, sorted)
	})
}

func BenchmarkSlide(b *testing.B) {
	for _, n := range []int{100, 10_000, 1_000_000} {
		b.Run(map[int]string{100: "100", 10_000: "10k", 1_000_000: "1M"}[n], func(b *testing.B) {
			r := rand.New(rand.NewPCG(5, 6))
			var tree Tree
			ring := make([]float64, n)
			for i := range ring {
				ring[i] = r.Float64()
				tree.Insert(ring[i])
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				tree.Delete(ring[i])
				ring[i] = r.Float64()
				tree.Insert(ring[i])
				tree.At(n / 2)
				i = (i + 1) % n
			}
		})
	}
}
