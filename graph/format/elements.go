package format

import "bytes"

// maxName bounds the names of structured data, where RFC 5424 allows 32 characters:
// each of the values of an element has a copy of its id.
const maxName = 64

// elements walks through the parameters of structured elements, those that are not well
// formed left out.
type elements struct {
	rest   []byte
	sound  bool // each of them is well formed
	inside bool // an element

	id      []byte
	name    []byte
	value   []byte
	escaped bool // value has escapes
}

// next reads one parameter.
func (it *elements) next() bool {
	for {
		if it.inside {
			s := trimBlanks(it.rest)
			if s[0] != ']' {
				it.name, it.value, it.escaped, it.rest = parameter(s)
				return true
			}
			it.inside, it.rest = false, s[1:]
		}
		s := trimBlanks(it.rest) // what RFC 3164 has between elements
		if len(s) == 0 {
			return false
		}
		if !it.sound {
			if _, n := element(s); n < 0 {
				it.rest = s[bytes.IndexByte(s, ']')+1:]
				continue
			}
		}
		it.id = elementID(s)
		it.inside, it.rest = true, s[1+len(it.id):]
	}
}

// appendKey appends the key of the parameter.
func (it *elements) appendKey(dst []byte) []byte {
	return append(append(append(dst, it.id...), '.'), it.name...)
}

// elementsLength is the length of the elements that s begins with, and whether each is
// well formed. One that is not ends at the next bracket; without one the length is
// negative.
func elementsLength(s []byte) (length int, sound bool) {
	sound = true
	for length < len(s) && s[length] == '[' {
		_, n := element(s[length:])
		if n < 0 {
			sound = false
			if n = bytes.IndexByte(s[length:], ']') + 1; n == 0 {
				return -1, false
			}
		}
		length += n
	}
	return length, sound
}

// element reads one structured element, `[id name="value" ...]`: how many parameters it
// has and its length, which is negative if it is not well formed.
func element(s []byte) (params, length int) {
	id := elementID(s)
	if id == nil {
		return 0, -1
	}
	rest := s[1+len(id):]
	for {
		rest = trimBlanks(rest)
		if len(rest) > 0 && rest[0] == ']' {
			return params, len(s) - len(rest) + 1
		}
		var name []byte
		if name, _, _, rest = parameter(rest); name == nil {
			return 0, -1
		}
		params++
	}
}

// elementID is the id of the element that s begins with, or nil if it has none.
func elementID(s []byte) []byte {
	s = s[1:]
	for i := 0; i < len(s) && i <= maxName; i++ {
		switch s[i] {
		case ' ', ']':
			if i == 0 {
				return nil
			}
			return s[:i]
		case '=', '"':
			return nil
		}
	}
	return nil
}

// parameter reads `name="value"`. The name is nil where there is none.
func parameter(s []byte) (name, value []byte, escaped bool, rest []byte) {
	i := 0
	for i < len(s) && i <= maxName && s[i] != '=' {
		if c := s[i]; c == ' ' || c == ']' || c == '"' {
			return nil, nil, false, nil
		}
		i++
	}
	if i == 0 || i > maxName || i+1 >= len(s) || s[i] != '=' || s[i+1] != '"' {
		return nil, nil, false, nil
	}
	n, escaped := unescaped(s[i+2:], '"')
	if n < 0 {
		return nil, nil, false, nil
	}
	end := i + 2 + n
	return s[:i], s[i+2 : end], escaped, s[end+1:]
}

// unescapeParameter appends the value of a parameter. Backslashes before a quote, a
// backslash and a bracket are escapes, \n is a line feed, others stay.
func unescapeParameter(dst, s []byte) []byte { return unescape(dst, s, `"\]`, "n") }

// unescape appends s without the backslashes before the characters of plain, and what
// those before the letters n and r, where controls names them, stand for.
func unescape(dst, s []byte, plain, controls string) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		switch c := s[i+1]; {
		case has(plain, c):
			dst = append(dst, c)
		case has(controls, c) && c == 'n':
			dst = append(dst, '\n')
		case has(controls, c):
			dst = append(dst, '\r')
		default: // no escape, and no backslash: those are in every plain
			dst = append(dst, '\\', c)
		}
		s = s[i+2:]
	}
}

func has(set string, c byte) bool {
	for i := range len(set) {
		if set[i] == c {
			return true
		}
	}
	return false
}
