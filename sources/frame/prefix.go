package frame

import "encoding/json"

// prefix reads a text piece by piece and says whether it may still become one JSON value.
// It knows as soon as the first character is there that no value has.
//
// The zero value has read nothing.
type prefix struct {
	want    expected
	bad     bool
	literal []byte // a number, true, false or null that has begun
	text    bool   // inside a string
	key     bool   // which is a key
	escape  int    // characters that an escape still takes: 1 behind the backslash, up to 4 hexadecimal digits
	digits  bool   // of an escape
	open    []byte // brackets
}

// expected is what may come next, beside white space.
type expected uint8

const (
	aValue expected = iota
	aValueOrEnd
	aKeyOrEnd
	aKey
	aColon
	aCommaOrEnd
	nothing
)

// maxLiteral is how long a number, or another literal, is held to find out whether it is
// one. A longer one is believed.
const maxLiteral = 400

// read goes on with b. It returns false once no text can follow that makes it JSON.
func (p *prefix) read(b []byte) bool {
	for _, c := range b {
		if p.bad {
			break
		}
		p.next(c)
	}
	return !p.bad
}

func (p *prefix) next(c byte) {
	switch {
	case p.text:
		p.inString(c)
	case isLiteral(c):
		p.bad = len(p.literal) == 0 && p.want > aValueOrEnd
		if len(p.literal) < maxLiteral {
			p.literal = append(p.literal, c)
		}
	default:
		if len(p.literal) > 0 {
			p.bad = len(p.literal) < maxLiteral && !json.Valid(p.literal)
			p.literal = p.literal[:0]
			p.ended()
		}
		p.separator(c)
	}
}

// isLiteral reports whether a character stands in numbers, true, false and null, or in
// what is none of them.
func isLiteral(c byte) bool {
	switch c {
	case ' ', '\n', '\r', '\t', '"', ',', ':', '{', '}', '[', ']':
		return false
	}
	return true
}

func (p *prefix) separator(c byte) {
	ok := true
	switch c {
	case ' ', '\n', '\r', '\t':
	case '"':
		p.key = p.want == aKey || p.want == aKeyOrEnd
		p.text, ok = true, p.key || p.want <= aValueOrEnd
	case ':':
		ok, p.want = p.want == aColon, aValue
	case ',':
		ok = p.want == aCommaOrEnd
		if p.want = aValue; ok && p.open[len(p.open)-1] == '{' {
			p.want = aKey
		}
	case '{', '[':
		ok = p.want <= aValueOrEnd
		p.open = append(p.open, c)
		if p.want = aKeyOrEnd; c == '[' {
			p.want = aValueOrEnd
		}
	default:
		n := len(p.open)
		empty := aKeyOrEnd
		if c == ']' {
			empty = aValueOrEnd
		}
		if ok = n > 0 && p.open[n-1] == c-2 && (p.want == aCommaOrEnd || p.want == empty); ok {
			p.open = p.open[:n-1]
			p.ended()
		}
	}
	p.bad = p.bad || !ok
}

// ended goes on behind a value.
func (p *prefix) ended() {
	if p.want = aCommaOrEnd; len(p.open) == 0 {
		p.want = nothing
	}
}

func (p *prefix) inString(c byte) {
	switch {
	case p.digits:
		p.bad = (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F')
		p.escape--
		p.digits = p.escape > 0
	case p.escape > 0:
		p.escape = 0
		switch c {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			p.escape, p.digits = 4, true
		default:
			p.bad = true
		}
	case c == '\\':
		p.escape = 1
	case c == '"':
		if p.text = false; p.key {
			p.want = aColon
		} else {
			p.ended()
		}
	default:
		p.bad = c < ' '
	}
}
