package due

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestValuesComeOutInTheOrderOfTheirSeconds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var q Queue[int64]
	var want, got []int64
	for range 2000 {
		at := random.Int64N(500)
		q.Add(at, at)
		want = append(want, at)
	}
	slices.Sort(want)
	for now := int64(0); now < 500; now++ {
		for {
			next, waits := q.Next()
			v, ok := q.Pop(now)
			if !ok {
				if waits && next <= now {
					t.Fatalf("at %d a value of %d does not come out", now, next)
				}
				break
			}
			if v != next || v > now {
				t.Fatalf("at %d came %d, want that of %d", now, v, next)
			}
			got = append(got, v)
		}
	}
	if !slices.Equal(got, want) || q.Len() != 0 {
		t.Errorf("got %d values, want %d; %d are left", len(got), len(want), q.Len())
	}
}

func TestTheClockMayGoBack(t *testing.T) {
	var q Queue[string]
	q.Add(100, "late")
	if v, ok := q.Pop(99); ok {
		t.Fatalf("%s came too early", v)
	}
	q.Add(20, "early") // the clock stands at 10 again
	if v, ok := q.Pop(30); !ok || v != "early" {
		t.Errorf("got %q, want early", v)
	}
	if v, ok := q.Pop(100); !ok || v != "late" {
		t.Errorf("got %q, want late", v)
	}
	if _, ok := q.Next(); ok {
		t.Error("a value waits in an empty queue")
	}
	q.Add(1, "x")
	q.Reset()
	if q.Len() != 0 {
		t.Error("a value is left behind Reset")
	}
}

func BenchmarkNothingIsDue(b *testing.B) {
	var q Queue[int32]
	for i := range 100_000 {
		q.Add(int64(1000+i%5000), int32(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := q.Pop(999); ok {
			b.Fatal("a value came out")
		}
	}
}

func BenchmarkAddAndPop(b *testing.B) {
	var q Queue[int32]
	for i := range 100_000 {
		q.Add(int64(i), int32(i))
	}
	b.ReportAllocs()
	now := int64(0)
	for b.Loop() {
		v, _ := q.Pop(now)
		q.Add(now+100_000, v)
		now++
	}
}
