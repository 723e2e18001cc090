package event

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"strconv"
)

// Numeric is the numeric form of a value. Integers within 64 bits, signed or
// unsigned, are kept exactly.
type Numeric struct {
	Float    float64
	Exact    bool // Negative and Magnitude hold an integer
	Negative bool
	Abs      uint64
}

// IsDecimal reports whether s is entirely a decimal number with optional sign,
// fraction and exponent. There are digits on one side of the point at least.
func IsDecimal(s []byte) bool {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	n := digits(s[i:])
	i += n
	if i < len(s) && s[i] == '.' {
		fraction := digits(s[i+1:])
		i += 1 + fraction
		n += fraction
	}
	if n == 0 {
		return false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '-' || s[i] == '+') {
			i++
		}
		if n = digits(s[i:]); n == 0 {
			return false
		}
		i += n
	}
	return i == len(s)
}

func digits(s []byte) int {
	for i, c := range s {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(s)
}

// ParseNumeric reads the numeric form of a text. It does not allocate.
func ParseNumeric(s []byte) (Numeric, bool) {
	if n, ok := parseShort(s); ok {
		return n, true
	}
	if len(s) == 0 || !IsDecimal(s) {
		return Numeric{}, false
	}
	n := Numeric{}
	t := s
	if s[0] == '-' || s[0] == '+' {
		n.Negative = s[0] == '-'
		t = s[1:]
	}
	if digits(t) == len(t) && n.parseInteger(t) {
		return n, true
	}
	f, err := strconv.ParseFloat(string(s), 64)
	if err != nil && !math.IsInf(f, 0) {
		return Numeric{}, false
	}
	if math.Abs(f) >= beyondInteger && !math.IsInf(f, 0) && len(s) <= maxTruncated {
		f = truncated(s, f)
	}
	return Numeric{Float: f}, true
}

// beyondInteger is the first number that no integer of 64 bits reaches.
const beyondInteger = 1 << 64

// shortDigits is how many digits never leave 64 bits.
const shortDigits = 18

// parseShort reads a few digits without a sign: most numbers.
func parseShort(s []byte) (Numeric, bool) {
	if len(s) == 0 || len(s) > shortDigits {
		return Numeric{}, false
	}
	var u uint64
	for _, c := range s {
		d := uint64(c) - '0'
		if d > 9 {
			return Numeric{}, false
		}
		u = u*10 + d
	}
	return Numeric{Float: float64(u), Exact: true, Abs: u}, true
}

// maxTruncated is more digits than a double needs.
const maxTruncated = 400

// truncated converts a number beyond 64 bits to the next double toward zero, so that
// numbers around a tie of two doubles stay together, however they are written.
func truncated(s []byte, nearest float64) float64 {
	f, _, err := big.ParseFloat(string(s), 10, 53, big.ToZero)
	if err != nil {
		return nearest
	}
	x, _ := f.Float64()
	return x
}

func (n *Numeric) parseInteger(t []byte) bool {
	var u uint64
	for _, c := range t {
		d := uint64(c - '0')
		if u > (math.MaxUint64-d)/10 {
			return false
		}
		u = u*10 + d
	}
	if n.Negative && u > 1<<63 {
		return false
	}
	if u == 0 {
		n.Negative = false
	}
	n.Abs, n.Exact, n.Float = u, true, float64(u)
	if n.Negative {
		n.Float = -n.Float
	}
	return true
}

// Compare orders two numbers: exactly when both are integers within 64 bits,
// otherwise as 64-bit floats.
func (n Numeric) Compare(o Numeric) int {
	if !n.Exact || !o.Exact {
		return cmp.Compare(n.Float, o.Float)
	}
	switch {
	case n.Negative != o.Negative:
		if n.Negative {
			return -1
		}
		return 1
	case n.Negative:
		return cmp.Compare(o.Abs, n.Abs)
	}
	return cmp.Compare(n.Abs, o.Abs)
}

// AppendNumberText appends the text form of a JSON number.
func AppendNumberText(dst, raw []byte) []byte {
	if !bytes.ContainsAny(raw, ".eE") {
		return append(dst, raw...)
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return append(dst, raw...) // beyond the range of floats: the spelling is all there is
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// Numeric returns the numeric form of v: numbers, and strings that are entirely
// a decimal number. The scratch space is used for strings with escapes and
// returned for the next call.
func (v Value) Numeric(scratch []byte) (Numeric, bool, []byte) {
	switch v.Type {
	case Number:
		n, ok := ParseNumeric(v.Raw)
		return n, ok, scratch
	case String, Text:
		scratch, _ = v.AppendText(scratch[:0])
		n, ok := ParseNumeric(scratch)
		return n, ok, scratch
	}
	return Numeric{}, false, scratch
}
