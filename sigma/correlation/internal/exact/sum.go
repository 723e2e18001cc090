// Package exact sums floating-point numbers without rounding.
//
// A Sum is the true sum of what was added and not yet taken away, whatever the
// order, and Value rounds it once. So a number that has left a window leaves no
// residue behind, nothing ever needs to be recomputed, and a sum rebuilt from
// the same numbers is the same to the last bit.
package exact

import (
	"math"
	"math/bits"
)

const (
	limbBits = 32
	limbMask = 1<<limbBits - 1
	// A float64 is an integer times 2^-1074; the last bit of limb 0 is worth that.
	minExponent = -1074
	// Every operation adds less than 2^32 to a limb, so that many operations
	// leave an int64 far from overflowing.
	carryEvery = 1 << 29

	// Whole numbers below this are summed in a plain integer: 2^31 of them fit.
	smallLimit = 1 << 31
)

// Sum is an exact sum. The zero value is the sum of nothing.
//
// Whole numbers below 2^31 cost one integer addition. Others go to limbs of 32
// bits, of which only the span in use is kept: 8 bytes each, four to six of them
// for numbers of similar size.
type Sum struct {
	small int64
	large *large // nil while all numbers were small
}

// large is a sum in signed digits of base 2^32, the first of them worth
// 2^(minExponent+32*low).
type large struct {
	limbs []int64
	low   int
	ops   int
}

// Add adds v, which must be finite.
func (s *Sum) Add(v float64) { s.add(v, 1) }

// Sub takes away v, which must have been added before.
func (s *Sum) Sub(v float64) { s.add(v, -1) }

func (s *Sum) add(v float64, sign int64) {
	if w := int64(v); w > -smallLimit && w < smallLimit && float64(w) == v {
		s.small += sign * w
		return
	}
	if s.large == nil {
		s.large = new(large)
	}
	s.large.add(v, sign)
}

func (s *large) add(v float64, sign int64) {
	b := math.Float64bits(v)
	if b>>63 != 0 {
		sign = -sign
	}
	mantissa, exponent := b&(1<<52-1), int(b>>52&0x7ff)
	if exponent == 0 {
		exponent = 1
	} else {
		mantissa |= 1 << 52
	}
	s.addAt(mantissa, exponent-1, sign)
}

// addAt adds sign * mantissa * 2^(minExponent+shift).
func (s *large) addAt(mantissa uint64, shift int, sign int64) {
	limb := shift / limbBits
	hi, lo := bits.Mul64(mantissa, 1<<(shift%limbBits))
	s.reach(limb, limb+3)
	at := s.limbs[limb-s.low:]
	at[0] += sign * int64(lo&limbMask)
	at[1] += sign * int64(lo>>limbBits)
	at[2] += sign * int64(hi)
	if s.ops++; s.ops >= carryEvery {
		s.carry()
	}
}

// reach makes the limbs cover [from, to) and one more for carries.
func (s *large) reach(from, to int) {
	to++
	if len(s.limbs) == 0 {
		s.low, s.limbs = from, make([]int64, to-from)
		return
	}
	low, high := min(from, s.low), max(to, s.low+len(s.limbs))
	if low == s.low && high == s.low+len(s.limbs) {
		return
	}
	wider := make([]int64, high-low)
	copy(wider[s.low-low:], s.limbs)
	s.limbs, s.low = wider, low
}

// carry brings every limb but the last into [0, 2^32).
func (s *large) carry() {
	s.ops = 0
	if last := s.limbs[len(s.limbs)-1]; last > limbMask/2 || last < -limbMask/2 {
		s.reach(s.low, s.low+len(s.limbs))
	}
	carryInto(s.limbs)
}

func carryInto(limbs []int64) {
	for i := 0; i+1 < len(limbs); i++ {
		limbs[i+1] += limbs[i] >> limbBits
		limbs[i] &= limbMask
	}
}

// Value returns the sum rounded to the nearest float64, ties to even. It is
// infinite when the true sum is beyond the largest float64.
func (s *Sum) Value() float64 {
	if s.large == nil {
		return float64(s.small)
	}
	// 2098 bits of a float64's range, the small sum and room for carries.
	var buf [72]int64
	from := s.large
	low := from.low
	limbs := buf[:len(from.limbs)+1]
	if s.small != 0 {
		const one = -minExponent / limbBits // the limb that holds 2^0
		low = min(low, one)
		high := max(from.low+len(from.limbs), one+3)
		limbs = buf[:high-low+1]
		addSmall(limbs[one-low:], s.small)
	}
	for i, l := range from.limbs {
		limbs[from.low-low+i] += l
	}
	carryInto(limbs)
	negative := limbs[len(limbs)-1] < 0
	if negative {
		for i := range limbs {
			limbs[i] = -limbs[i]
		}
		carryInto(limbs)
	}
	v := round(limbs, low)
	if negative {
		return -v
	}
	return v
}

func addSmall(limbs []int64, v int64) {
	sign := int64(1)
	if v < 0 {
		sign, v = -1, -v
	}
	hi, lo := bits.Mul64(uint64(v), 1<<(-minExponent%limbBits))
	limbs[0] += sign * int64(lo&limbMask)
	limbs[1] += sign * int64(lo>>limbBits)
	limbs[2] += sign * int64(hi)
}

// round turns carried, non-negative limbs into a float64.
func round(limbs []int64, low int) float64 {
	top := len(limbs) - 1
	for top >= 0 && limbs[top] == 0 {
		top--
	}
	if top < 0 {
		return 0
	}
	// The leading 64 bits, and whether anything follows them.
	var lead uint64
	width := bits.Len64(uint64(limbs[top])) // the top limb may hold more than 32 bits
	lead = uint64(limbs[top]) << (64 - width)
	have := width
	sticky := false
	for i := top - 1; i >= 0; i-- {
		d := uint64(limbs[i])
		switch free := 64 - have; {
		case free >= limbBits:
			lead |= d << (free - limbBits)
			have += limbBits
		case free > 0:
			lead |= d >> (limbBits - free)
			sticky = sticky || d<<(64-limbBits+free) != 0
			have = 64
		default:
			sticky = sticky || d != 0
		}
	}
	// exponent is the weight of lead's lowest bit.
	exponent := minExponent + (low+top)*limbBits + width - 64
	return assemble(lead, sticky, exponent)
}

// assemble rounds lead * 2^exponent, lead having its highest bit set, plus
// something below its lowest bit when sticky.
func assemble(lead uint64, sticky bool, exponent int) float64 {
	drop := 11 // 64 bits to 53
	if exponent+drop < minExponent {
		drop = minExponent - exponent // subnormal: fewer bits are left
	}
	if drop > 64 {
		return 0
	}
	kept, rest := uint64(0), lead
	if drop < 64 {
		kept, rest = lead>>drop, lead<<(64-drop)
	}
	const half = 1 << 63
	if rest > half || rest == half && (sticky || kept&1 == 1) {
		kept++
	}
	return math.Ldexp(float64(kept), exponent+drop)
}
