package document

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Kind is the type of a node.
type Kind uint8

// The kinds of nodes.
const (
	Null Kind = iota
	Bool
	Int
	Float
	NonFinite // .inf, .nan and numbers beyond the range of a float
	String
	List
	Map
)

// Node is one value of a document. Aliases share their target, so a node never
// changes after it was read.
type Node struct {
	// Text is a scalar's value: integers in decimal digits of any length, other
	// numbers as the shortest decimal without exponent, true or false, a
	// string's content. A NonFinite keeps the text as written.
	Text    string
	Line    int
	Items   []*Node // of a List
	Entries []Entry // of a Map, in written order
	written *string // of a scalar; nil where it is Text
	size    int32   // weight of all below and including this one, aliases followed
	Kind    Kind
}

// Entry is one key and value of a mapping. Keys may be of any kind.
type Entry struct {
	Key   *Node
	Value *Node
}

// textOfNode is how many bytes of a text weigh as much as a node.
const textOfNode = 256

// weight is what a node weighs by itself.
func weight(text string) int32 { return 1 + int32(len(text)/textOfNode) }

// Get returns the value under a string key of a mapping, nil if there is none.
func (n *Node) Get(key string) *Node {
	if n == nil || n.Kind != Map {
		return nil
	}
	for _, e := range n.Entries {
		if e.Key.Kind == String && e.Key.Text == key {
			return e.Value
		}
	}
	return nil
}

// Str returns the content of a string node.
func (n *Node) Str() (string, bool) {
	if n == nil || n.Kind != String {
		return "", false
	}
	return n.Text, true
}

// Written is a scalar as it stands in the file: 1.10 where Text is 1.1. Of a string it is the
// content.
func (n *Node) Written() string {
	if n.written != nil {
		return *n.written
	}
	return n.Text
}

// spell keeps how a scalar is written.
func (n *Node) spell(text string) {
	if n.Kind != String && text != n.Text { // seldom
		written := text
		n.written = &written
	}
}

// IsScalar reports whether n is neither a list nor a mapping.
func (n *Node) IsScalar() bool { return n.Kind != List && n.Kind != Map }

// JSON returns the node as JSON knows it: map[string]any, []any, string, bool,
// json.Number or nil. Keys that are no strings are dropped; what is not finite
// becomes nil.
func (n *Node) JSON() any {
	switch n.Kind {
	case Bool:
		return n.Text == "true"
	case Int, Float:
		return json.Number(n.Text)
	case String:
		return n.Text
	case List:
		out := make([]any, 0, len(n.Items))
		for _, it := range n.Items {
			out = append(out, it.JSON())
		}
		return out
	case Map:
		out := make(map[string]any, len(n.Entries))
		for _, e := range n.Entries {
			if e.Key.Kind == String {
				out[e.Key.Text] = e.Value.JSON()
			}
		}
		return out
	}
	return nil
}

// Mapping makes a mapping of entries.
func Mapping(line int, entries []Entry) *Node {
	n := &Node{Kind: Map, Line: line, Entries: entries, size: 1}
	for _, e := range entries {
		n.size += e.Key.size + e.Value.size
	}
	return n
}

// Digests are those of large nodes, which several documents may have in common.
type Digests map[*Node][sha256.Size]byte

// Sum returns a digest that nodes of the same content have, and no others.
func (s Digests) Sum(n *Node) [sha256.Size]byte {
	if n.size <= largeNode {
		return sha256.Sum256(n.Canonical())
	}
	sum, ok := s[n]
	if !ok {
		sum = sha256.Sum256(n.appendContent(nil, s))
		s[n] = sum
	}
	return sum
}

// largeNode is the size beyond which the digest of a node stands for its content in
// that of the node above.
const largeNode = 256

// Canonical writes n as compact JSON with sorted keys. Unlike JSON it keeps
// every key, so that documents with different content differ in it.
func (n *Node) Canonical() []byte {
	return n.appendContent(make([]byte, 0, 2048), nil)
}

// appendCanonical appends n, or with digests what stands for it.
func (n *Node) appendCanonical(dst []byte, digests Digests) []byte {
	if digests != nil && n.size > largeNode {
		sum := digests.Sum(n)
		return append(append(dst, '#'), sum[:]...) // no JSON begins so
	}
	return n.appendContent(dst, digests)
}

func (n *Node) appendContent(dst []byte, digests Digests) []byte {
	switch n.Kind {
	case Bool, Int, Float:
		return append(dst, n.Text...)
	case String, NonFinite:
		return appendQuoted(dst, n.Text)
	case List:
		dst = append(dst, '[')
		for i, it := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = it.appendCanonical(dst, digests)
		}
		return append(dst, ']')
	case Map:
		dst = append(dst, '{')
		var few [16]named // most mappings need no memory
		for i, e := range n.sorted(few[:0]) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, e.name), ':')
			dst = e.value.appendCanonical(dst, digests)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// named is an entry of a mapping under its key as text.
type named struct {
	name  string
	value *Node
}

// sorted appends the entries to out, which is empty, by their keys. Of keys that are
// the same as text the last one counts.
func (n *Node) sorted(out []named) []named {
	for _, e := range n.Entries {
		name := e.Key.Text
		if !e.Key.IsScalar() {
			name = string(e.Key.Canonical())
		}
		out = append(out, named{name, e.Value})
	}
	slices.SortStableFunc(out, func(a, b named) int { return strings.Compare(a.name, b.name) })
	last := out[:0]
	for i := range out {
		if i+1 == len(out) || out[i+1].name != out[i].name {
			last = append(last, out[i])
		}
	}
	return last
}

// appendQuoted appends a text, which is UTF-8, as JSON.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		if from = i + 1; c < ' ' {
			dst = fmt.Appendf(dst, "\\u%04x", c)
		} else {
			dst = append(dst, '\\', c)
		}
	}
	return append(append(dst, s[from:]...), '"')
}
