package jq

import (
	"encoding/json"
	"math"
	"math/big"
	"regexp"

	"github.com/itchyny/gojq"

	"github.com/sluicehq/sluice/graph/extract/tree"
)

// beyond is the first integer that has too many digits.
var beyond = new(big.Int).Exp(big.NewInt(10), big.NewInt(tree.MaxDigits), nil)

// short is v, or a double where v is a number of more digits than there may be.
func short(v any) any {
	switch n := v.(type) {
	case *big.Int:
		if n.CmpAbs(beyond) >= 0 {
			return double(n)
		}
	case json.Number:
		if long(string(n)) {
			return tree.Double(string(n))
		}
	}
	return v
}

// double is the double that is nearest to n, in time that does not grow faster than its
// length.
func double(n *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n).Float64() // what is out of range is infinite
	return min(max(f, -math.MaxFloat64), math.MaxFloat64)
}

// long reports whether a text has more digits than a number may have.
func long(text string) bool {
	n := 0
	if len(text) > tree.MaxDigits {
		for i := range len(text) {
			if text[i] >= '0' && text[i] <= '9' {
				n++
			}
		}
	}
	return n > tree.MaxDigits
}

// numeral is what jq takes for a number in a text.
var numeral = regexp.MustCompile(`^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)

// numeral makes a double of a text that is a number of more digits than there may be.
func (a *account) numeral(v any) any {
	if err := a.text(v, 4); err != nil {
		return err
	}
	if text, ok := v.(string); ok && long(text) {
		if err := a.charge(len(text)/2, 0); err != nil {
			return err
		}
		if numeral.MatchString(text) {
			return tree.Double(text)
		}
	}
	return v
}

// shorten makes doubles of such numbers in a value that nobody else has.
func shorten(v any) any {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			v[i] = shorten(e)
		}
	case map[string]any:
		for k, m := range v {
			v[k] = shorten(m)
		}
	}
	return short(v)
}

// operand charges an operand, and sees to it that no number grows for ever.
func (a *account) operand(v any) any { return or(a.shallow(v, 1), short(v)) }

// compared charges what is compared with another value.
func (a *account) compared(v any) any { return or(a.deep(v), short(v)) }

// maxLimit is how many digits the limit of a range has that is not a double. The range
// looks at its limits in each of its steps.
const maxLimit = 32

// limit is a limit of a range as a plain number.
func (a *account) limit(v any) any {
	if err := a.text(v, 1); err != nil {
		return err
	}
	if n, ok := v.(json.Number); ok {
		if len(n) > maxLimit {
			return tree.Double(string(n))
		}
	}
	if n, ok := v.(*big.Int); ok && n.BitLen() > maxLimit*4 {
		return double(n)
	}
	return v
}

// index charges an index, and refuses one that would make an array too long.
func (a *account) index(v any) error {
	if err := a.text(v, 1); err != nil {
		return err
	}
	return index(v)
}

// order charges putting the parts of v in an order: each may be compared with the longest
// of the numbers, which is read anew each time.
func (a *account) order(v any) error {
	if err := a.deep(v); err != nil {
		return err
	}
	count, longest := 0, 0
	measure(v, &count, &longest)
	return a.charge(bounded(count, longest/8), 0)
}

// measure counts the parts of v, and finds the length of the longest number that costs more
// than others.
func measure(v any, count, longest *int) {
	*count++
	switch v := v.(type) {
	case json.Number, *big.Int:
		*longest = max(*longest, weight(v))
	case []any:
		for _, e := range v {
			measure(e, count, longest)
		}
	case map[string]any:
		for _, m := range v {
			measure(m, count, longest)
		}
	}
}

// weight is the length of a number that costs more than others, and 0 of others.
func weight(v any) int {
	n := 0
	switch v := v.(type) {
	case json.Number:
		n = len(v)
	case *big.Int:
		n = v.BitLen() / 3
	}
	if n <= 32 {
		return 0
	}
	return n
}

// literal shortens a number in the text of a program.
func literal(t *gojq.Term) {
	if long(t.Number) {
		text, err := tree.Append(nil, tree.Double(t.Number), len(t.Number))
		if err == nil {
			t.Number = string(text)
		}
	}
}
