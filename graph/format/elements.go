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
				var name, n int
				name, n, it.escaped = parameter(s)
				it.name, it.value, it.rest = s[:name], s[name+2:n-1], s[n:]
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
	if len(id) == 0 {
		return 0, -1
	}
	for rest := s[1+len(id):]; ; params++ {
		rest = trimBlanks(rest)
		if len(rest) > 0 && rest[0] == ']' {
			return params, len(s) - len(rest) + 1
		}
		name, n, _ := parameter(rest)
		if name == 0 {
			return 0, -1
		}
		rest = rest[n:]
	}
}

// elementID is the id of the element that s begins with, empty where it has none.
func elementID(s []byte) []byte {
	n := nameLength(s[1:])
	if 1+n == len(s) || s[1+n] != ' ' && s[1+n] != ']' {
		return nil
	}
	return s[1 : 1+n]
}

// parameter reads `name="value"`: the length of its name, which is 0 where there is none,
// of the whole, and whether a backslash is in the value.
func parameter(s []byte) (name, length int, escaped bool) {
	name = nameLength(s)
	if name+1 >= len(s) || s[name] != '=' || s[name+1] != '"' {
		return 0, 0, false
	}
	n, escaped := unescaped(s[name+2:], '"')
	if n < 0 {
		return 0, 0, false
	}
	return name, name + 2 + n + 1, escaped
}

// nameLength is the length of the name that s begins with, no more than it may be.
func nameLength(s []byte) int {
	s = s[:min(len(s), maxName)]
	for i, c := range s {
		if endsName[c] {
			return i
		}
	}
	return len(s)
}

// endsName holds the characters that are in no name.
var endsName = [256]bool{' ': true, ']': true, '=': true, '"': true}

// unescapeParameter appends the value of a parameter. Backslashes before a quote, a
// backslash and a bracket are escapes, \n is a line feed, others stay.
func unescapeParameter(dst, s []byte) []byte { return unescape(dst, s, `"\]`, "n") }
