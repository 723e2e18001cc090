package document

import "encoding/json"

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
	Kind Kind
	// Text is a scalar's value: integers in decimal digits of any length, other
	// numbers as the shortest decimal without exponent, true or false, a
	// string's content. A NonFinite keeps the text as written.
	Text    string
	Line    int
	Items   []*Node // of a List
	Entries []Entry // of a Map, in written order
	size    int     // nodes below and including this one, aliases followed
}

// Entry is one key and value of a mapping. Keys may be of any kind.
type Entry struct {
	Key   *Node
	Value *Node
}

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

// Canonical writes n as compact JSON with sorted keys. Unlike JSON it keeps
// every key, so that documents with different content differ in it.
func (n *Node) Canonical() []byte {
	b, err := json.Marshal(n.canonical())
	if err != nil { // not reachable: every value below is encodable
		return nil
	}
	return b
}

func (n *Node) canonical() any {
	switch n.Kind {
	case NonFinite:
		return n.Text
	case List:
		out := make([]any, 0, len(n.Items))
		for _, it := range n.Items {
			out = append(out, it.canonical())
		}
		return out
	case Map:
		out := make(map[string]any, len(n.Entries))
		for _, e := range n.Entries {
			key := e.Key.Text
			if !e.Key.IsScalar() {
				key = string(e.Key.Canonical())
			}
			out[key] = e.Value.canonical()
		}
		return out
	}
	return n.JSON()
}
