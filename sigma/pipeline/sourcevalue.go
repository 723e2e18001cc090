package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// lookup returns what a reference leads to as compact JSON; nothing for a place that is
// not there.
func (x *expansion) lookup(r sourceRef) (string, error) {
	text, ok := x.compact[r.id]
	if !ok {
		var out bytes.Buffer
		if data := x.values[r.id].JSON; len(bytes.TrimSpace(data)) > 0 {
			out.Grow(len(data))
			if err := json.Compact(&out, data); err != nil {
				return "", fmt.Errorf("the value of source '%s' is no JSON: %w", r.id, err)
			}
		}
		text = out.String()
		x.compact[r.id] = text
	}
	if r.path != "" {
		at := r.id
		for segment := range strings.SplitSeq(r.path, ".") {
			text = x.below(at, text, segment)
			at += "." + segment
		}
	}
	return text, nil
}

func isNull(text string) bool { return text == "" || text == "null" }

// below returns what a key of an object, or an index of an array, holds; nothing for
// none. The text stands at a place, of which the members are read once.
func (x *expansion) below(at, text, segment string) (found string) {
	switch {
	case strings.HasPrefix(text, "{"):
		members, read := x.objects[at]
		if !read {
			var raw map[string]json.RawMessage
			_ = json.Unmarshal([]byte(text), &raw) // what is compact is valid
			members = make(map[string]string, len(raw))
			for name, v := range raw {
				members[name] = string(v)
			}
			x.objects[at] = members
		}
		return members[segment]
	case strings.HasPrefix(text, "["):
		n, err := strconv.ParseUint(segment, 10, 31)
		if err != nil {
			return ""
		}
		index := uint64(0)
		_ = eachElement(text, func(element string) error {
			if index == n {
				found = element
				return io.EOF
			}
			index++
			return nil
		})
	}
	return found
}

// spelled is how a value reads inside of text: a string as it is, null as nothing, and
// all else as compact JSON.
func spelled(text string) string {
	switch {
	case isNull(text):
		return ""
	case text[0] != '"':
		return text
	case strings.IndexByte(text, '\\') < 0:
		return text[1 : len(text)-1]
	}
	var s string
	_ = json.Unmarshal([]byte(text), &s) // what is compact is valid
	return s
}

// eachElement gives visit the elements of an array, which is compact JSON, until it
// returns an error. They share the memory of array.
func eachElement(array string, visit func(element string) error) error {
	depth, from, quoted := 0, 1, false
	for i := 0; i < len(array); i++ {
		switch c := array[i]; {
		case quoted && c == '\\':
			i++ // whatever is behind it
		case quoted:
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
			if depth > 0 || i == from {
				continue // the end of an element, or an empty array
			}
			if err := visit(array[from:i]); err != nil {
				return err
			}
		case c == ',' && depth == 1:
			if err := visit(array[from:i]); err != nil {
				return err
			}
			from = i + 1
		}
	}
	return nil
}
