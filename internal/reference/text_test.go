package reference

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// textForm is what string operators compare.
func (v *value) textForm() (string, bool) {
	switch v.kind {
	case text:
		return v.text, true
	case boolean:
		return v.raw, true
	case number:
		return numberText(v.raw), true
	}
	return "", false
}

// numberText keeps integers as received and writes other numbers as the
// shortest decimal without exponent.
func numberText(s string) string {
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s // beyond a double there is no shortest decimal
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// foldRune maps the code points that are equal under simple case folding to
// one of them, the lower-case one where there is such a thing.
func foldRune(r rune) rune {
	if r < unicode.MaxASCII {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	for _, c := range [...]rune{unicode.ToLower(unicode.ToUpper(r)), unicode.ToLower(r)} {
		if c != r && sameFold(r, c) {
			return c
		}
	}
	return r
}

func sameFold(a, b rune) bool {
	for r := unicode.SimpleFold(a); r != a; r = unicode.SimpleFold(r) {
		if r == b {
			return true
		}
	}
	return false
}

func fold(s string) string { return strings.Map(foldRune, s) }

// fold is the folded text form; it must only be called on values with a text
// form.
func (v *value) fold() string {
	if v.folded == nil {
		s, _ := v.textForm()
		s = fold(s)
		v.folded = &s
	}
	return *v.folded
}

func (v *value) foldedRunes() []rune {
	if v.foldedAs == nil {
		v.foldedAs = []rune(v.fold())
	}
	return v.foldedAs
}

// numeric is a numeric form. Integers within 64 bits keep every digit.
type numeric struct {
	ok, whole, negative bool
	magnitude           uint64
	float               float64
}

// numericForm is what numeric operators compare.
func (v *value) numericForm() (numeric, bool) {
	if v.numeric == nil {
		n := numeric{}
		switch v.kind {
		case number:
			n = parseNumber(v.raw)
		case text:
			n = parseNumber(v.text)
		}
		v.numeric = &n
	}
	return *v.numeric, v.numeric.ok
}

// decimal has a sign, a fraction and an exponent if it wants, and digits in any
// case; that keeps blanks, hex, underscores, inf and nan out.
var decimal = regexp.MustCompile(`^[+-]?(\d+|\d+\.\d*|\.\d+)([eE][+-]?\d+)?$`)

// parseNumber reads a decimal number and nothing else.
func parseNumber(s string) numeric {
	parts := decimal.FindStringSubmatch(s)
	if parts == nil {
		return numeric{}
	}
	digits, whole := parts[1], parts[2] == "" && !strings.Contains(parts[1], ".")
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return numeric{}
	}
	n := numeric{ok: true, float: f}
	if m, err := strconv.ParseUint(digits, 10, 64); err == nil && whole {
		n.negative = s[0] == '-' && m != 0
		n.magnitude = m
		n.whole = !n.negative || m <= 1<<63
	}
	if !n.whole && math.Abs(f) >= 1<<64 {
		n.float = truncated(s, f)
	}
	return n
}

// truncated is the double next to a number beyond 64 bits in the direction of zero.
// Rounding to the nearest would part 100000000000000000000001 from 1e23, which
// are equal.
func truncated(s string, nearest float64) float64 {
	exact, _, err := big.ParseFloat(s, 10, 53, big.ToZero)
	if err != nil {
		return nearest
	}
	f, _ := exact.Float64()
	return f
}

// compare orders two numbers: negative when a is smaller.
func (a numeric) compare(b numeric) int {
	if !a.whole || !b.whole {
		switch {
		case a.float < b.float:
			return -1
		case a.float > b.float:
			return 1
		}
		return 0
	}
	switch {
	case a.negative && !b.negative:
		return -1
	case b.negative && !a.negative:
		return 1
	case a.magnitude == b.magnitude:
		return 0
	case (a.magnitude < b.magnitude) != a.negative:
		return -1
	}
	return 1
}
