package ast

import "strings"

// ValueKind is the YAML type of a value.
type ValueKind uint8

// The kinds of values a detection item may hold. Invalid stands where YAML had
// a mapping or a list: an alternative that never matches.
const (
	Null ValueKind = iota
	String
	Number
	Bool
	Invalid
)

var valueKindNames = [...]string{"null", "string", "number", "bool", "invalid"}

// String returns the name of the kind.
func (k ValueKind) String() string { return nameOf(valueKindNames[:], int(k)) }

// MarshalText prints the name of the kind.
func (k ValueKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (k *ValueKind) UnmarshalText(b []byte) error {
	i, err := indexOf("value kind", valueKindNames[:], string(b))
	*k = ValueKind(i)
	return err
}

// Value is one alternative of an item.
type Value struct {
	Kind ValueKind `json:"kind"`
	// Text is the value as written: a string with its escapes and wildcards, a
	// number in canonical JSON spelling (integers in decimal digits, whatever
	// their length), "true" or "false". Modifiers that take their value raw
	// (re, cidr, fieldref) read it.
	Text string `json:"text,omitempty"`
	// Parts is a string's meaning: Text with escapes and wildcards resolved.
	// It belongs to kind String only; empty means the empty string.
	Parts []Part `json:"parts,omitempty"`
	// Inserted says that Text is the value of a dynamic source: it is data, in which
	// nothing is a reference.
	Inserted bool `json:"inserted,omitempty"`
}

// PartKind tells literal text from wildcards.
type PartKind uint8

// The parts of a string value.
const (
	Literal PartKind = iota
	Many             // any run of characters, also empty
	One              // exactly one character
)

// Part is one part of a string value. Text is set for Literal only and never
// empty there; two literals never follow each other.
type Part struct {
	Kind PartKind `json:"k,omitempty"`
	Text string   `json:"t,omitempty"`
}

// StringValue reads text by Sigma's escape rules: * and ? are wildcards, and a
// backslash before one of them, or before a backslash, makes it literal.
func StringValue(text string) Value {
	return Value{Kind: String, Text: text, Parts: ParseParts(text)}
}

// LiteralValue makes a string value that means exactly s.
func LiteralValue(s string) Value {
	v := Value{Kind: String, Text: Escape(s)}
	if s != "" {
		v.Parts = []Part{{Kind: Literal, Text: s}}
	}
	return v
}

// ParseParts resolves escapes and wildcards: a backslash before *, ? or another
// backslash is dropped, before anything else it stands for itself.
func ParseParts(text string) []Part {
	if IsLiteral(text) { // the fast path
		if text == "" {
			return nil
		}
		return []Part{{Kind: Literal, Text: text}}
	}
	var parts []Part
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			parts = append(parts, Part{Kind: Literal, Text: lit.String()})
			lit.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '*':
			flush()
			parts = append(parts, Part{Kind: Many})
		case '?':
			flush()
			parts = append(parts, Part{Kind: One})
		case '\\':
			if i+1 < len(text) && strings.IndexByte(`*?\`, text[i+1]) >= 0 {
				i++
				c = text[i]
			}
			lit.WriteByte(c)
		default:
			lit.WriteByte(c)
		}
	}
	flush()
	return parts
}

// IsLiteral reports whether a text has neither wildcards nor escapes.
func IsLiteral(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case '*', '?':
			return false
		case '\\':
			if i+1 < len(text) && strings.IndexByte(`*?\`, text[i+1]) >= 0 {
				return false
			}
		}
	}
	return true
}

// Escape writes s so that ParseParts gives back exactly s as one literal.
func Escape(s string) string {
	if !strings.ContainsAny(s, `*?\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '*' || c == '?':
			b.WriteByte('\\')
		case c == '\\' && (i+1 == len(s) || strings.IndexByte(`*?\`, s[i+1]) >= 0):
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// JoinParts writes parts as text that ParseParts reads back.
func JoinParts(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		switch p.Kind {
		case Many:
			b.WriteByte('*')
		case One:
			b.WriteByte('?')
		default:
			// Escape doubles a final backslash, which would swallow a wildcard behind it.
			b.WriteString(Escape(p.Text))
		}
	}
	return b.String()
}

// HasWildcard reports whether a string value has wildcards.
func (v Value) HasWildcard() bool {
	for _, p := range v.Parts {
		if p.Kind != Literal {
			return true
		}
	}
	return false
}

// Plain returns a string value's literal text. It is meaningful only without
// wildcards.
func (v Value) Plain() string {
	if len(v.Parts) == 1 {
		return v.Parts[0].Text
	}
	var b strings.Builder
	for _, p := range v.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}
