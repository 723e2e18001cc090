package ast

import "fmt"

// Kind tells the shapes of a Node apart.
type Kind uint8

// The kinds of nodes.
const (
	// KindItems is a mapping of plain items; all must hold.
	KindItems Kind = iota
	// KindAny is a list of alternatives; any of Nodes must hold.
	KindAny
	// KindAll is a conjunction; all of Nodes must hold. A mapping that also has
	// array blocks is a KindAll of one KindItems, when it has plain items, and
	// its blocks in written order.
	KindAll
	// KindKeywords is a keyword block: Items holds exactly one field-less item.
	KindKeywords
	// KindArray is an array block: Path and Quantifier choose members, and the
	// only element of Nodes is the body, whose field names are relative to a
	// member. The field name "." means the member itself.
	KindArray
	// KindNested is a conditional block: Detections combined by Conditions.
	KindNested
)

var kindNames = [...]string{"items", "any", "all", "keywords", "array", "nested"}

// String returns the name under which the kind is printed.
func (k Kind) String() string { return nameOf(kindNames[:], int(k)) }

// MarshalText prints the name of the kind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(b []byte) error {
	i, err := indexOf("node kind", kindNames[:], string(b))
	*k = Kind(i)
	return err
}

// Node is one node of a detection. Which members are set follows from Kind.
type Node struct {
	Kind       Kind        `json:"kind"`
	Items      []Item      `json:"items,omitempty"`
	Nodes      []*Node     `json:"nodes,omitempty"`
	Path       string      `json:"path,omitempty"`       // KindArray: the array's field name, as written
	Quantifier Quantifier  `json:"quantifier,omitempty"` // KindArray
	Detections []Detection `json:"detections,omitempty"` // KindNested
	Conditions []Condition `json:"conditions,omitempty"` // KindNested, tried in order
	Applied    []string    `json:"applied,omitempty"`    // ids of pipeline items that acted on this node
	Line       int         `json:"line,omitempty"`
}

// Quantifier says how many members of an array must satisfy a body.
type Quantifier uint8

// The quantifiers of array blocks. NoQuantifier belongs to every other node.
const (
	NoQuantifier Quantifier = iota
	AnyMember
	AllMembers
	AllOrEmpty
	NoMember
)

var quantifierNames = [...]string{"", "any", "all", "all_or_empty", "none"}

// String returns the name inside the brackets.
func (q Quantifier) String() string { return nameOf(quantifierNames[:], int(q)) }

// MarshalText prints the name inside the brackets.
func (q Quantifier) MarshalText() ([]byte, error) { return []byte(q.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (q *Quantifier) UnmarshalText(b []byte) error {
	i, err := indexOf("quantifier", quantifierNames[:], string(b))
	*q = Quantifier(i)
	return err
}

// Item is one line of a detection: a field, modifiers and the alternatives it
// is compared with.
type Item struct {
	// Field is the name as written, selectors and escaped brackets included;
	// empty for an item without a field (a keyword search).
	Field string `json:"field"`
	// Paths, when not empty, are path patterns: the value is that of the first one
	// that the event has. Field is then equal to the first pattern.
	Paths []string `json:"places,omitempty"`
	// References holds the path patterns of fields that values refer to, by the name that
	// fieldref, or a placeholder of expand, has in the value: the first pattern.
	References map[string][]string `json:"reference_paths,omitempty"`
	Modifiers  Modifiers           `json:"modifiers,omitempty"`
	Values     []Value             `json:"values"`
	Applied    []string            `json:"applied,omitempty"` // ids of pipeline items that acted on this item
	Line       int                 `json:"line,omitempty"`
}

// Walk calls visit for n and every node below it, parents first, until visit
// returns false.
func (n *Node) Walk(visit func(*Node) bool) bool {
	if n == nil {
		return true
	}
	if !visit(n) {
		return false
	}
	for _, c := range n.Nodes {
		if !c.Walk(visit) {
			return false
		}
	}
	for i := range n.Detections {
		if !n.Detections[i].Node.Walk(visit) {
			return false
		}
	}
	return true
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("invalid(%d)", i)
}

func indexOf(what string, names []string, s string) (int, error) {
	for i, n := range names {
		if n == s {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q", what, s)
}
