package incident

// Ref refers to an incident of a Store, also when it has become part of another one. The
// zero Ref is none. Refs are comparable, but two that differ may lead to one incident.
type Ref struct{ node *node }

// node is what stays of an incident while its content is copied, merged and forgotten.
type node struct {
	at    int32  // in Store.all, gone when it is there no more
	names int32  // active alerts that name it
	into  *node  // the incident that it has become part of
	rare  *index // of an incident that has much
	flags flags
}

// gone is the place of a node whose incident has ended or become part of another one.
const gone = -1

// flags say in which queues the node is.
type flags uint8

const (
	queuedNews    flags = 1 << iota // for its first record, or for news
	queuedRepeat                    // for a repetition
	queuedResolve                   // for its end
	collected                       // taken out of queues by the tick at hand
)

// resolve is the node of the incident that r leads to, nil if there is none.
func (r Ref) resolve() *node {
	n := r.node
	if n == nil {
		return nil
	}
	for n.into != nil {
		if n.into.into != nil {
			n.into = n.into.into
		}
		n = n.into
	}
	if n.at == gone {
		return nil
	}
	return n
}
