package correlation

// Limits bound the state of all correlations together. What is zero has its default.
// Whichever is reached first evicts the stalest tenth.
type Limits struct {
	Groups int
	// Bytes is what the groups may take, by their account: each with its key, its
	// entries and the events that it keeps. Suppression times of groups that are gone
	// take a tenth of it at most.
	Bytes int
}

// The limits when none are configured.
const (
	DefaultMaxGroups = 100_000
	DefaultMaxBytes  = 1 << 30
)

func (l Limits) orDefault() Limits {
	if l.Groups <= 0 {
		l.Groups = DefaultMaxGroups
	}
	if l.Bytes <= 0 {
		l.Bytes = DefaultMaxBytes
	}
	return l
}

// buried is what tombstones may take.
func (l Limits) buried() int { return l.Bytes / 10 }

// Groups returns the number of groups over all correlations.
func (e *Engine) Groups() int { return e.live }

// Bytes returns what the groups and the suppression times without a group take.
func (e *Engine) Bytes() int { return e.bytes }

// Limits returns the limits in force.
func (e *Engine) Limits() Limits { return e.limits }

// full reports whether a limit is reached.
func (e *Engine) full() bool { return e.live >= e.limits.Groups || e.bytes >= e.limits.Bytes }

// lowered returns what an eviction leaves: nine tenths of each limit that is reached.
func (e *Engine) lowered() Limits {
	to := e.limits
	if e.live >= to.Groups {
		to.Groups = nineTenths(to.Groups)
	}
	if e.bytes >= to.Bytes {
		to.Bytes = nineTenths(to.Bytes)
	}
	return to
}

// within reports whether the state fits l.
func (e *Engine) within(l Limits) bool { return e.live <= l.Groups && e.bytes <= l.Bytes }

const (
	// groupBytes is what a group takes beside its window and what its key spells: the
	// group itself and its places in the tables, the order of age and the timers.
	groupBytes  = 190
	storedBytes = 64 // of an event kept for results, beside what is kept of it
)

// weight is what g takes.
func (g *group) weight() int {
	n := groupBytes + len(g.key)
	if g.tombstone {
		return n
	}
	for i := range g.buffer() {
		n += g.extra.buffer[i].weight()
	}
	return n + g.window.Bytes()
}

// bare is what g takes without entries and events.
func (st *correlationState) bare(g *group) int { return groupBytes + len(g.key) + st.emptyBytes }

func (s *stored) weight() int { return storedBytes + len(s.data) }
