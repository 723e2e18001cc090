package format

import "bytes"

// maxName bounds the names of structured data, where RFC 5424 allows 32 characters:
// each of the values of an element has a copy of its id.
const maxName = 64

// elements are the parameters of the structured data of a line, those of elements that are
// not well formed left out.
type elements struct {
	text  []byte // of all elements, and what is between them
	sound bool   // each of them is well formed
	count int    // of parameters
	first [8]parameter
}

// parameter is one parameter: where in the text the parts of `[id name="value"` begin and
// end.
type parameter struct {
	id, name, value, end uint32
	idLength, nameLength uint8
	escaped              bool // value has escapes
}

// read takes the elements that s begins with, and returns what follows. An element that is
// not well formed ends at the next bracket; without one it fails.
func (e *elements) read(s []byte) (rest []byte, ok bool) {
	e.sound = true
	at := 0
	for at < len(s) && s[at] == '[' {
		n := e.element(s, at)
		if n < 0 {
			e.sound = false
			if n = bytes.IndexByte(s[at:], ']') + 1; n == 0 {
				return nil, false
			}
		}
		at += n
	}
	e.text = s[:at]
	return s[at:], true
}

// readSound takes the elements with parameters that s begins with, spaces between and
// behind them, and returns what follows.
func (e *elements) readSound(s []byte) (rest []byte) {
	e.sound = true
	at := 0
	for at < len(s) && s[at] == '[' {
		before := e.count
		n := e.element(s, at)
		if e.count == before {
			break
		}
		for at += n; at < len(s) && s[at] == ' '; {
			at++
		}
	}
	e.text = s[:at]
	return s[at:]
}

// element takes the element at a position of s, `[id name="value" ...]`, and returns its
// length, which is negative if it is not well formed.
func (e *elements) element(s []byte, at int) (length int) {
	id := elementID(s[at:])
	if len(id) == 0 {
		return -1
	}
	count := e.count
	for i := at + 1 + len(id); ; {
		for i < len(s) && s[i] == ' ' {
			i++
		}
		if i < len(s) && s[i] == ']' {
			e.count = count
			return i + 1 - at
		}
		name, n, escaped := cutParameter(s[i:])
		if name == 0 {
			return -1
		}
		if count < len(e.first) {
			e.first[count] = parameter{
				id: uint32(at + 1), name: uint32(i), value: uint32(i + name + len(`="`)), end: uint32(i + n - 1),
				idLength: uint8(len(id)), nameLength: uint8(name), escaped: escaped,
			}
		}
		count++
		i += n
	}
}

// walk is a walk through the parameters of elements.
type walk struct {
	*elements
	parameter      // at hand
	next      int  // of the first parameters
	at        int  // in the text, behind them
	inside    bool // an element
}

// key appends the key of the parameter at hand.
func (w *walk) key(dst []byte) []byte {
	dst = append(append(dst, w.text[w.id:][:w.idLength]...), '.')
	return append(dst, w.text[w.name:][:w.nameLength]...)
}

// raw is the value of the parameter at hand as it stands in the line.
func (w *walk) raw() []byte { return w.text[w.value:w.end] }

// step goes to the next parameter.
func (w *walk) step() bool {
	if w.count <= len(w.first) {
		if w.next == w.count {
			return false
		}
		w.parameter = w.first[w.next]
		w.next++
		return true
	}
	return w.again()
}

// again is step for more parameters than are kept: the text is read once more.
func (w *walk) again() bool {
	for ; w.at < len(w.text); w.at++ {
		rest := w.text[w.at:]
		switch {
		case rest[0] == ' ':
		case rest[0] == ']':
			w.inside = false
		case w.inside:
			name, n, escaped := cutParameter(rest)
			w.name, w.nameLength, w.escaped = uint32(w.at), uint8(name), escaped
			w.value, w.end = uint32(w.at+name+len(`="`)), uint32(w.at+n-1)
			w.at += n
			return true
		case !w.sound && new(elements).element(w.text, w.at) < 0:
			w.at += bytes.IndexByte(rest, ']')
		default:
			w.id, w.idLength, w.inside = uint32(w.at+1), uint8(len(elementID(rest))), true
			w.at += int(w.idLength)
		}
	}
	return false
}

// elementID is the id of the element that s begins with, empty where it has none.
func elementID(s []byte) []byte {
	n := nameLength(s[1:])
	if 1+n == len(s) || s[1+n] != ' ' && s[1+n] != ']' {
		return nil
	}
	return s[1 : 1+n]
}

// cutParameter reads `name="value"`: the length of its name, which is 0 where there is none,
// of the whole, and whether a backslash is in the value.
func cutParameter(s []byte) (name, length int, escaped bool) {
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
