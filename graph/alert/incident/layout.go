package incident

import (
	"cmp"
	"slices"
)

// layout is how incidents are shown. It never changes.
type layout struct {
	names   []string // of the selectors of values, by number
	rank    []int    // their order, by number
	byName  []int    // numbers, sorted by name
	include Include
	subject string
}

// renew is the layout of a configuration. Selectors keep their numbers.
func (l *layout) renew(c *Config) *layout {
	n := &layout{names: slices.Clone(l.names), include: c.Include, subject: c.NATSSubject}
	for i := range c.Entities {
		n.names, _ = numbered(n.names, c.Entities[i].String())
	}
	n.rank = make([]int, len(n.names))
	for i, name := range n.names {
		n.rank[i] = len(c.Entities) + i // what is no longer configured comes last
		for place := range c.Entities {
			if c.Entities[place].String() == name {
				n.rank[i] = place
			}
		}
	}
	n.byName = make([]int, len(n.names))
	for i := range n.byName {
		n.byName[i] = i
	}
	slices.SortFunc(n.byName, func(a, b int) int { return cmp.Compare(n.names[a], n.names[b]) })
	return n
}

// numbered is the number of a name in names, to which it is appended if need be.
func numbered(names []string, name string) ([]string, int) {
	if i := slices.Index(names, name); i >= 0 {
		return names, i
	}
	return append(names, name), len(names)
}
