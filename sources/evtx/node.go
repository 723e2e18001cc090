package evtx

// node is a piece of binary XML.
type node struct {
	form     form
	optional bool // a substitution that leaves nothing when its value is empty
	varies   bool // an element with substitutions as children or in attributes
	name     *name
	key      *name // of a Data element whose Name is no substitution
	value    value // for character and substitution, at is the character and the number
	instance int32 // of a template

	first, last, next int32 // children, and the next sibling
	attrs, lastAttr   int32
}

// form is what a node is.
type form uint8

const (
	element form = iota
	attribute
	text
	character
	entity
	substitution
	template
)

// instance is a template with the values to be put in.
type instance struct {
	at     uint32 // of the definition
	values []value
}

// arena is the memory of nodes that live equally long. Those of a record are numbered
// downwards from -1, those of templates upwards from 1, so that a number alone says where a
// node is.
type arena struct {
	nodes     []node
	instances []instance
	values    []value
	sign      int32
}

// reset makes the arena empty.
func (a *arena) reset() {
	if len(a.nodes) == 0 {
		a.nodes = append(a.nodes, node{}) // number 0 is none
		a.instances = append(a.instances, instance{})
	}
	a.nodes, a.instances, a.values = a.nodes[:1], a.instances[:1], a.values[:0]
}

func (a *arena) add(n node) int32 {
	a.nodes = append(a.nodes, n)
	return a.sign * int32(len(a.nodes)-1)
}

func (a *arena) addInstance(i instance) int32 {
	a.instances = append(a.instances, i)
	return a.sign * int32(len(a.instances)-1)
}

// reserve returns memory for the values of an instance, which live as long as the arena's nodes.
func (a *arena) reserve(n int) []value {
	at := len(a.values)
	if cap(a.values)-at < n {
		a.values, at = make([]value, 0, max(n, 2*cap(a.values), 256)), 0 // those of before keep theirs
	}
	a.values = a.values[:at+n]
	return a.values[at : at : at+n]
}
