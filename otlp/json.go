package otlp

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how many arrays and objects a value may be nested in. What lies deeper is
// given as JSON text: receivers refuse messages of more than a hundred levels, and an
// object takes three.
const MaxDepth = 30

var errNotJSON = errors.New("no JSON")

// AppendAttribute appends an attribute that is a JSON value.
func AppendAttribute(dst []byte, key string, value []byte) ([]byte, error) {
	return appendWhole(dst, place{fieldAttribute, true, key}, value, MaxDepth)
}

// AppendAttributes appends an attribute for each member of a JSON object.
func AppendAttributes(dst, object []byte) ([]byte, error) {
	err := members(object, func(key string, at int) (end int, err error) {
		dst, end, err = appendValue(dst, place{fieldAttribute, true, key}, object, at, MaxDepth)
		return end, err
	})
	return dst, err
}

// Members calls f for each member of a JSON object, in order, until it returns an error.
// The key is no longer valid when f has returned.
func Members(object []byte, f func(key string, value []byte) error) error {
	return members(object, func(key string, at int) (end int, err error) {
		if end, err = skip(object, at); err != nil {
			return end, err
		}
		return end, f(key, object[at:end])
	})
}

// members calls f for each member, with where its value begins. f returns where it ends.
func members(object []byte, f func(key string, at int) (end int, err error)) error {
	i := space(object, 0)
	if i == len(object) || object[i] != '{' {
		return malformed(object, i)
	}
	end, err := list(object, i, '}', func(i int) (int, error) {
		key, i, err := keyAt(object, i)
		if err != nil {
			return i, err
		}
		return f(key, i)
	})
	if err != nil {
		return err
	}
	if end = space(object, end); end != len(object) {
		return malformed(object, end)
	}
	return nil
}

// appendWhole appends a value that is all there is, nested at most so deep.
func appendWhole(dst []byte, p place, value []byte, depth int) ([]byte, error) {
	dst, end, err := appendValue(dst, p, value, 0, depth)
	if err != nil {
		return dst, err
	}
	if end = space(value, end); end != len(value) {
		return dst, malformed(value, end)
	}
	return dst, nil
}

// appendValue appends the value that begins at i, and returns where it ends.
func appendValue(dst []byte, p place, b []byte, i, depth int) (_ []byte, end int, err error) {
	if i = space(b, i); i == len(b) {
		return dst, i, malformed(b, i)
	}
	switch c := b[i]; {
	case c == '"':
		return appendStringAt(dst, p, b, i)
	case c == '{' || c == '[':
		if depth == 0 {
			if end, err = skip(b, i); err == nil {
				dst = appendString(dst, p, textOf(b[i:end]))
			}
			return dst, end, err
		}
		return appendList(dst, p, b, i, depth-1)
	case c == '-' || c >= '0' && c <= '9':
		return appendNumber(dst, p, b, i)
	}
	word := b[i:]
	switch {
	case bytes.HasPrefix(word, []byte("null")):
		return appendNull(dst, p), i + 4, nil
	case bytes.HasPrefix(word, []byte("true")):
		return appendBool(dst, p, true), i + 4, nil
	case bytes.HasPrefix(word, []byte("false")):
		return appendBool(dst, p, false), i + 5, nil
	}
	return dst, i, malformed(b, i)
}

// appendList appends the array or object that begins at i.
func appendList(dst []byte, p place, b []byte, i, depth int) (_ []byte, end int, err error) {
	at := len(dst)
	dst, reserved := p.leave(dst, aboutList)
	kind := byte(valueArray)
	if b[i] == '[' {
		end, err = list(b, i, ']', func(i int) (end int, err error) {
			dst, end, err = appendValue(dst, element, b, i, depth)
			return end, err
		})
	} else {
		kind = valueObject
		end, err = list(b, i, '}', func(i int) (end int, err error) {
			key, i, err := keyAt(b, i)
			if err == nil {
				dst, end, err = appendValue(dst, member(key), b, i, depth)
			}
			return end, err
		})
	}
	if err != nil {
		return dst, end, err
	}
	return p.enclose(dst, at, reserved, kind), end, nil
}

// list calls one for each entry of what begins at i and is closed by closing. It returns
// where that ends.
func list(b []byte, i int, closing byte, one func(i int) (end int, err error)) (end int, err error) {
	i = space(b, i+1)
	if i < len(b) && b[i] == closing {
		return i + 1, nil
	}
	for {
		if i, err = one(i); err != nil {
			return i, err
		}
		switch i = space(b, i); {
		case i < len(b) && b[i] == ',':
			i = space(b, i+1)
		case i < len(b) && b[i] == closing:
			return i + 1, nil
		default:
			return i, malformed(b, i)
		}
	}
}

// keyAt reads the key at i and returns where its value begins.
func keyAt(b []byte, i int) (key string, value int, err error) {
	inner, end, plain, err := stringAt(b, i)
	if err != nil {
		return "", end, err
	}
	if key = textOf(inner); !plain || !utf8.ValidString(key) {
		key = string(appendUnquoted(nil, inner))
	}
	if end = space(b, end); end == len(b) || b[end] != ':' {
		return "", end, malformed(b, end)
	}
	return key, space(b, end+1), nil
}

// stringAt finds the text between the quotes of the string that begins at i, and where
// the string ends. It is plain when nothing in it is escaped.
func stringAt(b []byte, i int) (inner []byte, end int, plain bool, err error) {
	if i >= len(b) || b[i] != '"' {
		return nil, i, false, malformed(b, i)
	}
	start := i + 1
	quote := bytes.IndexByte(b[start:], '"')
	if quote < 0 {
		return nil, len(b), false, malformed(b, len(b))
	}
	if bytes.IndexByte(b[start:start+quote], '\\') < 0 {
		return b[start : start+quote], start + quote + 1, true, nil
	}
	for j := start; j < len(b); j++ {
		switch b[j] {
		case '\\':
			j++
		case '"':
			return b[start:j], j + 1, false, nil
		}
	}
	return nil, len(b), false, malformed(b, len(b))
}

func appendStringAt(dst []byte, p place, b []byte, i int) ([]byte, int, error) {
	inner, end, plain, err := stringAt(b, i)
	if err != nil {
		return dst, end, err
	}
	if plain {
		return appendString(dst, p, textOf(inner)), end, nil
	}
	at := len(dst)
	dst, reserved := p.leave(dst, len(inner))
	return p.enclose(appendUnquoted(dst, inner), at, reserved, valueString), end, nil
}

// appendUnquoted appends what stands between the quotes of a string.
func appendUnquoted(dst, inner []byte) []byte {
	whole := utf8.ValidString(textOf(inner))
	for len(inner) > 0 {
		n := bytes.IndexByte(inner, '\\')
		if n < 0 {
			n = len(inner)
		}
		if whole {
			dst = append(dst, inner[:n]...)
		} else {
			dst = appendValid(dst, textOf(inner[:n]))
		}
		if inner = inner[n:]; len(inner) < 2 {
			return dst
		}
		c := inner[1]
		switch c {
		case 'n':
			c = '\n'
		case 't':
			c = '\t'
		case 'r':
			c = '\r'
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'u':
			r, n := escape(inner)
			dst, inner = utf8.AppendRune(dst, r), inner[n:]
			continue
		}
		if c >= utf8.RuneSelf { // no escape: what follows the backslash is read as it is
			inner = inner[1:]
			continue
		}
		dst, inner = append(dst, c), inner[2:]
	}
	return dst
}

// escape reads \uXXXX, or two of them that are one character.
func escape(b []byte) (r rune, n int) {
	first, ok := hex4(b)
	if !ok {
		return utf8.RuneError, min(len(b), 6)
	}
	if utf16.IsSurrogate(first) {
		if second, ok := hex4(b[6:]); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r, 12
			}
		}
		return utf8.RuneError, 6
	}
	return first, 6
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

func appendNumber(dst []byte, p place, b []byte, i int) ([]byte, int, error) {
	end, integer := i+1, true
	for ; end < len(b); end++ {
		c := b[end]
		if c >= '0' && c <= '9' {
			continue
		}
		if c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' {
			break
		}
		integer = false
	}
	number := b[i:end]
	if integer {
		if n, err := strconv.ParseInt(string(number), 10, 64); err == nil {
			return appendInt(dst, p, n), end, nil
		}
	}
	n, err := strconv.ParseFloat(string(number), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range is infinite
		return dst, i, malformed(b, i)
	}
	return appendDouble(dst, p, n), end, nil
}

// skip returns where the value ends that begins at i.
func skip(b []byte, i int) (end int, err error) {
	if i = space(b, i); i == len(b) {
		return i, malformed(b, i)
	}
	if b[i] != '{' && b[i] != '[' {
		if b[i] == '"' {
			_, end, _, err = stringAt(b, i)
			return end, err
		}
		for end = i; end < len(b) && !ends(b[end]); {
			end++
		}
		if end == i {
			return i, malformed(b, i)
		}
		return end, nil
	}
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			if _, end, _, err = stringAt(b, i); err != nil {
				return end, err
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
	}
	return i, malformed(b, i)
}

// ends reports whether c ends a number or a word.
func ends(c byte) bool {
	return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

func malformed(b []byte, at int) error {
	return fmt.Errorf("byte %d of %d: %w", at, len(b), errNotJSON)
}
