package ast

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
)

// Modifier is one modifier of a detection item. Aliases are resolved by the
// loader: wide is UTF16LE, ignorecase is RegexIgnoreCase and so on.
type Modifier uint32

// The modifiers of Sigma's appendix on modifiers, and a few of sluice's own.
const (
	Contains Modifier = 1 << iota
	StartsWith
	EndsWith
	All
	Cased
	Neq
	Exists
	Re
	RegexIgnoreCase
	RegexMultiline
	RegexDotAll
	CIDR
	FieldRef
	Expand
	GT
	GTE
	LT
	LTE
	Minute
	Hour
	Day
	Week
	Month
	Year
	Base64
	Base64Offset
	UTF16LE
	UTF16BE
	UTF16
	Windash
)

// Modifiers is a set of modifiers; their written order never matters.
type Modifiers uint32

// Groups of modifiers that the rules of combination speak of.
const (
	StringOperators = Modifiers(Contains | StartsWith | EndsWith)
	OrderOperators  = Modifiers(GT | GTE | LT | LTE)
	TimeParts       = Modifiers(Minute | Hour | Day | Week | Month | Year)
	RegexFlags      = Modifiers(RegexIgnoreCase | RegexMultiline | RegexDotAll)
	UTF16Encodings  = Modifiers(UTF16LE | UTF16BE | UTF16)
	Base64Encodings = Modifiers(Base64 | Base64Offset)
	Encodings       = UTF16Encodings | Base64Encodings
)

var modifierNames = [...]string{
	"contains", "startswith", "endswith", "all", "cased", "neq", "exists", "re", "i", "m", "s",
	"cidr", "fieldref", "expand", "gt", "gte", "lt", "lte",
	"minute", "hour", "day", "week", "month", "year",
	"base64", "base64offset", "utf16le", "utf16be", "utf16", "windash",
}

var modifierAliases = map[string]Modifier{
	"ignorecase": RegexIgnoreCase, "multiline": RegexMultiline, "dotall": RegexDotAll, "wide": UTF16LE,
}

// ParseModifier knows the names of modifiers and their aliases, which are
// case-sensitive.
func ParseModifier(s string) (Modifier, bool) {
	for i, n := range modifierNames {
		if n == s {
			return 1 << i, true
		}
	}
	m, ok := modifierAliases[s]
	return m, ok
}

// ModifierNames returns the names of all modifiers, aliases behind them.
func ModifierNames() []string {
	return slices.Concat(modifierNames[:], slices.Sorted(maps.Keys(modifierAliases)))
}

// String returns the canonical name of a single modifier.
func (m Modifier) String() string {
	if bits.OnesCount32(uint32(m)) == 1 {
		return nameOf(modifierNames[:], bits.TrailingZeros32(uint32(m)))
	}
	return fmt.Sprintf("invalid(%#x)", uint32(m))
}

// Has reports whether m is in the set.
func (s Modifiers) Has(m Modifier) bool { return s&Modifiers(m) != 0 }

// HasAny reports whether the sets share a modifier.
func (s Modifiers) HasAny(o Modifiers) bool { return s&o != 0 }

// With returns the set with m in it.
func (s Modifiers) With(m Modifier) Modifiers { return s | Modifiers(m) }

// Without returns the set without m.
func (s Modifiers) Without(m Modifier) Modifiers { return s &^ Modifiers(m) }

// List returns the members in a fixed order.
func (s Modifiers) List() []Modifier {
	var out []Modifier
	for rest := uint32(s); rest != 0; rest &= rest - 1 {
		out = append(out, Modifier(rest&-rest))
	}
	return out
}

// String joins the canonical names with "|".
func (s Modifiers) String() string {
	names := make([]string, 0, 4)
	for _, m := range s.List() {
		names = append(names, m.String())
	}
	return strings.Join(names, "|")
}

// MarshalText prints the names joined with "|".
func (s Modifiers) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *Modifiers) UnmarshalText(b []byte) error {
	*s = 0
	if len(b) == 0 {
		return nil
	}
	for name := range strings.SplitSeq(string(b), "|") {
		m, ok := ParseModifier(name)
		if !ok {
			return fmt.Errorf("unknown modifier %q", name)
		}
		*s = s.With(m)
	}
	return nil
}
