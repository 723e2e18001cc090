package event

import "fmt"

// Kind tells how an event was decoded.
type Kind uint8

// The kinds of events.
const (
	JSON  Kind = iota // a JSON value, usually an object
	Pairs             // a flat list of named texts
	Plain             // one line of text without fields
)

// String returns the name of the kind.
func (k Kind) String() string {
	switch k {
	case JSON:
		return "json"
	case Pairs:
		return "pairs"
	case Plain:
		return "plain"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Type is the JSON type of a value.
type Type uint8

// The types. Text is a string that stands verbatim, without quotes and escapes.
const (
	Null Type = iota
	False
	True
	Number
	String
	Array
	Object
	Text
)

// Value is a piece of validated JSON text, without white space around it.
type Value struct {
	Type Type
	Raw  []byte
}

// ValueOf reads the type off the first byte.
func ValueOf(raw []byte) Value { return Value{Type: typeOf(raw[0]), Raw: raw} }

func typeOf(first byte) Type {
	switch first {
	case '"':
		return String
	case '{':
		return Object
	case '[':
		return Array
	case 't':
		return True
	case 'f':
		return False
	case 'n':
		return Null
	}
	return Number
}

// AppendText appends the text form: strings as they are, integers as received,
// other numbers as the shortest decimal without exponent, booleans as true and
// false. Null, arrays and objects have none.
func (v Value) AppendText(dst []byte) ([]byte, bool) {
	switch v.Type {
	case String:
		return AppendUnquoted(dst, v.Raw), true
	case Text:
		return AppendValid(dst, v.Raw), true
	case Number:
		return AppendNumberText(dst, v.Raw), true
	case True, False:
		return append(dst, v.Raw...), true
	}
	return dst, false
}
