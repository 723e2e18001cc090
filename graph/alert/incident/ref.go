package incident

import "unique"

// Ref refers to an incident of a Store, also when it has become part of another one. The
// zero Ref is none. Refs are comparable, but two that differ may lead to one incident.
type Ref struct{ node *node }

// node is what stays of an incident while its content is copied, merged and forgotten.
type node struct {
	at    int32 // in Store.all, or gone
	names int32 // active alerts that name it
	into  *node // the incident that it has become part of
	rare  *rare // of an incident that has much
	flags flags
}

// gone is the place of an incident that has ended or become part of another one.
const gone = -1

// flags say in which queues a node is.
type flags uint8

const (
	queuedNews    flags = 1 << iota // for the first record, or for news
	queuedRepeat                    // for a repetition
	queuedResolve                   // for the end
	collected                       // taken out of the queues by the tick at hand
)

// rare finds the parts of a large incident. Each is made when it is first needed.
type rare struct {
	sizes   []int                           // values of its set, by selector
	rules   map[unique.Handle[string]]int32 // places in content.counts
	foreign map[string]struct{}             // those of content.more
}

// resolve is the node of the incident that r leads to, nil if there is none.
func (r Ref) resolve() *node {
	n := r.node
	if n == nil {
		return nil
	}
	for n.into != nil {
		if n.into.into != nil {
			n.into = n.into.into // the next time it is nearer
		}
		n = n.into
	}
	if n.at == gone {
		return nil
	}
	return n
}

// big is what finds the parts of n.
func (n *node) big() *rare {
	if n.rare == nil {
		n.rare = &rare{}
	}
	return n.rare
}
