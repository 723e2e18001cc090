package exact

import (
	"encoding/binary"
	"math"
	"math/big"
	"testing"
)

// reference sums with enough bits for any float64 beside any other.
func reference(values []float64) float64 {
	sum := new(big.Float).SetPrec(2400)
	for _, v := range values {
		sum.Add(sum, new(big.Float).SetFloat64(v))
	}
	f, _ := sum.Float64()
	return f
}

func TestSum(t *testing.T) {
	for _, tc := range []struct {
		name   string
		values []float64
		want   float64
	}{
		{"nothing sums to zero", nil, 0},
		{"whole numbers are exact", []float64{600, 500, -100}, 1000},
		{"a large number passing through leaves nothing", []float64{1e16, 0.1, 0.2, -1e16}, reference([]float64{0.1, 0.2})},
		{"subnormal numbers are kept", []float64{math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64}, 2 * math.SmallestNonzeroFloat64},
		{"the largest number twice is infinite", []float64{math.MaxFloat64, math.MaxFloat64}, math.Inf(1)},
		{"an overflow on the way does not matter", []float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}, math.MaxFloat64},
		{"negative sums round like positive ones", []float64{-0.1, -0.2, -0.3}, reference([]float64{-0.1, -0.2, -0.3})},
		{"small and large parts meet", []float64{3, 0.5, 1e300, 7, -1e300}, 10.5},
		{"what cancels is zero", []float64{0.1, -0.1}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s Sum
			for _, v := range tc.values {
				s.Add(v)
			}
			if got := s.Value(); got != tc.want {
				t.Errorf("sum of %v: got %v, want %v", tc.values, got, tc.want)
			}
		})
	}
}

func TestCarryKeepsTheSum(t *testing.T) {
	var s Sum
	values := []float64{0.1, -1e200, 3e200, -7.25, 1e-300}
	for _, v := range values {
		s.Add(v)
		if s.large != nil {
			s.large.carry()
		}
	}
	if got, want := s.Value(), reference(values); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Adding and taking away in any order rounds to the true sum.
func FuzzSumIsTrue(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\xf0\x3f\x9a\x99\x99\x99\x99\x99\xb9\x3f"), uint(1))
	f.Add(binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.MaxFloat64)), uint(0))
	f.Fuzz(func(t *testing.T, raw []byte, keep uint) {
		var values []float64
		for len(raw) >= 8 && len(values) < 64 {
			v := math.Float64frombits(binary.LittleEndian.Uint64(raw))
			raw = raw[8:]
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				values = append(values, v)
			}
		}
		var s Sum
		for _, v := range values {
			s.Add(v)
		}
		if got, want := s.Value(), reference(values); got != want {
			t.Fatalf("sum of %v: got %v, want %v", values, got, want)
		}
		if len(values) == 0 {
			return
		}
		rest := values[keep%uint(len(values)):]
		for _, v := range values[:len(values)-len(rest)] {
			s.Sub(v)
		}
		if got, want := s.Value(), reference(rest); got != want {
			t.Fatalf("sum of the rest %v: got %v, want %v", rest, got, want)
		}
	})
}

func BenchmarkSum(b *testing.B) {
	for name, v := range map[string]float64{"whole": 4242, "fraction": 42.42} {
		b.Run(name, func(b *testing.B) {
			var s Sum
			b.ReportAllocs()
			for b.Loop() {
				s.Add(v)
				if s.Value() == 0 {
					b.Fatal("lost")
				}
				s.Sub(v)
			}
		})
	}
}
