package reference

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	list
	object
)

// value is a decoded JSON value that remembers its spelling.
type value struct {
	kind    kind
	raw     string // scalars: the token as received
	text    string // kind text: the decoded string
	list    []*value
	members []member

	folded   *string // memo of fold
	foldedAs []rune  // memo of runes
	numeric  *numeric
}

// member is one key of an object; a key may occur more than once.
type member struct {
	key, raw string
	value    *value
}

// maxDepth is the deepest nesting of a JSON line.
const maxDepth = 128

// decode reads one JSON line.
func decode(line []byte) (*value, error) {
	if !json.Valid(line) {
		return nil, fmt.Errorf("decode event: not a single JSON value")
	}
	d := decoder{in: toValid(line)}
	v, err := d.value(0)
	if err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	return v, nil
}

// toValid replaces every byte that does not belong to UTF-8 by U+FFFD.
func toValid(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out.WriteRune(r)
		b = b[n:]
	}
	return out.String()
}

// decoder walks input that is known to be valid, so it looks only for the ends
// of things.
type decoder struct {
	in string
	at int
}

func (d *decoder) space() {
	for d.at < len(d.in) && strings.IndexByte(" \t\r\n", d.in[d.at]) >= 0 {
		d.at++
	}
}

func (d *decoder) value(depth int) (*value, error) {
	d.space()
	switch c := d.in[d.at]; c {
	case '{', '[':
		if depth == maxDepth {
			return nil, fmt.Errorf("nested deeper than %d", maxDepth)
		}
		if c == '{' {
			return d.object(depth + 1)
		}
		return d.list(depth + 1)
	case '"':
		raw, s := d.string()
		return &value{kind: text, raw: raw, text: s}, nil
	default:
		return d.scalar(), nil
	}
}

func (d *decoder) object(depth int) (*value, error) {
	v := &value{kind: object}
	for d.at++; ; d.at++ {
		if d.space(); d.in[d.at] == '}' {
			d.at++
			return v, nil
		}
		raw, key := d.string()
		d.space()
		d.at++ // the colon
		child, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		v.members = append(v.members, member{key: key, raw: raw, value: child})
		if d.space(); d.in[d.at] == '}' {
			d.at++
			return v, nil
		}
	}
}

func (d *decoder) list(depth int) (*value, error) {
	v := &value{kind: list}
	for d.at++; ; d.at++ {
		if d.space(); d.in[d.at] == ']' {
			d.at++
			return v, nil
		}
		child, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		v.list = append(v.list, child)
		if d.space(); d.in[d.at] == ']' {
			d.at++
			return v, nil
		}
	}
}

func (d *decoder) string() (raw, s string) {
	end := d.at + 1
	for d.in[end] != '"' {
		if d.in[end] == '\\' {
			end++
		}
		end++
	}
	raw = d.in[d.at : end+1]
	d.at = end + 1
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		s = raw // cannot happen: the line is valid
	}
	return raw, s
}

func (d *decoder) scalar() *value {
	end := d.at
	for end < len(d.in) && strings.IndexByte(" \t\r\n,]}", d.in[end]) < 0 {
		end++
	}
	raw := d.in[d.at:end]
	d.at = end
	switch raw {
	case "null":
		return &value{kind: null, raw: raw}
	case "true", "false":
		return &value{kind: boolean, raw: raw}
	}
	return &value{kind: number, raw: raw}
}

// all returns every value of a key, which may be repeated.
func (v *value) all(key string) []*value {
	var found []*value
	for _, m := range v.members {
		if m.key == key {
			found = append(found, m.value)
		}
	}
	return found
}

// get returns the value of a key. A repeated key gives all its values as one
// array.
func (v *value) get(key string) *value { return joined(v.all(key)) }

// joined is the value of several hits: none, that one, or an array of them.
func joined(hits []*value) *value {
	switch len(hits) {
	case 0:
		return nil
	case 1:
		return hits[0]
	}
	return &value{kind: list, list: hits}
}

// appendTo writes v without insignificant white space and otherwise as it was
// received.
func (v *value) appendTo(dst []byte) []byte {
	switch v.kind {
	case list:
		dst = append(dst, '[')
		for i, e := range v.list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.appendTo(dst)
		}
		return append(dst, ']')
	case object:
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, m.raw...), ':')
			dst = m.value.appendTo(dst)
		}
		return append(dst, '}')
	}
	return append(dst, v.raw...)
}

// strings appends every string of v that lies inside at most 63 containers.
func (v *value) strings(level int, out []*value) []*value {
	const deepest = 64
	if level > deepest {
		return out
	}
	switch v.kind {
	case text:
		out = append(out, v)
	case list:
		for _, e := range v.list {
			out = e.strings(level+1, out)
		}
	case object:
		for _, m := range v.members {
			out = m.value.strings(level+1, out)
		}
	}
	return out
}
