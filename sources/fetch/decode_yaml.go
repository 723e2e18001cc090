package fetch

import (
	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/sigma/event"
)

// decodeYAML gives the value of the only document, or those of several as an array.
func decodeYAML(data []byte) ([]byte, error) {
	docs, syntax := document.Read(data)
	switch {
	case syntax != nil && syntax.Line > 0:
		return nil, fault(Parse, "%s (line %d)", syntax, syntax.Line)
	case syntax != nil:
		return nil, fault(Parse, "%s", syntax)
	}
	for _, d := range docs {
		if d.Err != nil {
			return nil, fault(ResourceLimit, "%s (line %d)", d.Err, d.Line)
		}
	}
	switch len(docs) {
	case 0:
		return []byte("null"), nil
	case 1:
		return appendNode(nil, docs[0].Root), nil
	}
	out := []byte{'['}
	for i, d := range docs {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendNode(out, d.Root)
	}
	return append(out, ']'), nil
}

// appendNode appends a node as compact JSON. Keys that are no strings become text.
func appendNode(dst []byte, n *document.Node) []byte {
	switch n.Kind {
	case document.Bool, document.Int, document.Float:
		return append(dst, n.Text...)
	case document.String:
		return event.AppendQuoted(dst, n.Text)
	case document.List:
		dst = append(dst, '[')
		for i, it := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendNode(dst, it)
		}
		return append(dst, ']')
	case document.Map:
		dst = append(dst, '{')
		for _, e := range members(n.Entries) {
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = append(event.AppendQuoted(dst, keyOf(e.Key)), ':')
			dst = appendNode(dst, e.Value)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...) // and what is not finite
}

// keyOf is a key as text.
func keyOf(n *document.Node) string {
	switch {
	case n.Kind == document.Null:
		return "null"
	case n.IsScalar():
		return n.Text
	}
	return string(appendNode(nil, n))
}

// members are the entries of a mapping without those whose keys are the same text as a
// later one.
func members(entries []document.Entry) []document.Entry {
	plain := true
	for _, e := range entries {
		plain = plain && e.Key.Kind == document.String
	}
	if plain {
		return entries // the reader refuses keys that are repeated
	}
	last := make(map[string]int, len(entries))
	for i, e := range entries {
		last[keyOf(e.Key)] = i
	}
	kept := make([]document.Entry, 0, len(entries))
	for i, e := range entries {
		if last[keyOf(e.Key)] == i {
			kept = append(kept, e)
		}
	}
	return kept
}
