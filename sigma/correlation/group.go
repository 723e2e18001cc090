package correlation

import (
	"math"

	"github.com/sluicehq/sluice/sigma/correlation/internal/age"
	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
)

// group is the state of one group key of one correlation.
//
// A group that an export shares is never changed: writable replaces it first.
type group struct {
	key    string
	window window.Window
	extra  *extra // nil for most
	groupState
}

// extra is what few groups have.
type extra struct {
	buffer  []stored // events that contributed, oldest first; never overwritten
	arrival int64    // of the event of a far-future last emission
}

// groupState holds the numbers and flags of a group.
type groupState struct {
	high    int64 // newest timestamp accepted; survives an action reset
	low     int64 // no entry is older
	last    int64 // last emission
	touched int64 // wall time at which it was last accepted into
	alarm   int64 // wall time for which its timer is set
	bytes   int   // what it takes

	event    uint32 // the last event that saved the group in the journal
	exported uint32 // number of exports when the group was made, or another when it is shared since
	sweep    uint32 // number of sweeps that have been applied
	number   uint32 // differs from that of other groups in its slot
	late     uint8  // consecutive discards

	hasHigh    bool
	hasLast    bool
	future     bool // high is of a far-future event
	lastFuture bool // last is
	tombstone  bool // only a suppression time is left; not counted as a group
}

// buffer returns the events that contributed.
func (g *group) buffer() []stored {
	if g.extra == nil {
		return nil
	}
	return g.extra.buffer
}

// more returns the extra of g for changing.
func (g *group) more() *extra {
	if g.extra == nil {
		g.extra = new(extra)
	}
	return g.extra
}

// stored is an event kept for results: a reference or a deflated copy.
type stored struct {
	ts    int64
	hasID bool
	data  []byte
}

// correlationState is all state of one correlation.
type correlationState struct {
	c      *program.Correlation
	index  table
	groups []*group // by slot, nil when free
	uses   []uint32 // by slot: how often it was used, to recognise invalid timers
	free   []uint32
	puts   uint32 // number of groups so far
	ages   age.Order
	live   int           // groups without tombstones
	saved  saves         // before the current event
	empty  window.Window // the empty window that all tombstones share

	emptyBytes int // what an empty window takes

	// A sweep trims every group to cutoff; groups do it when next touched.
	sweeps  uint32
	cutoff  int64
	removed bool
}

func newCorrelationState(c *program.Correlation) *correlationState {
	st := new(correlationState)
	st.use(c)
	return st
}

// use makes c the correlation of st.
func (st *correlationState) use(c *program.Correlation) {
	st.c, st.empty = c, c.NewWindow()
	st.emptyBytes = st.empty.Bytes()
}

// second is the sort key of the group in a slot.
func (st *correlationState) second(slot uint32) int64 { return st.groups[slot].age() }

// find returns the group of a key and its slot, nil when there is none.
func (st *correlationState) find(hash uint64, key []byte) (uint32, *group) {
	if st.index.n == 0 {
		return 0, nil
	}
	for i := uint32(hash); ; i++ {
		c := st.index.at(i)
		if c.slot == 0 {
			return 0, nil
		}
		if c.hash == uint32(hash) {
			if g := st.groups[c.slot-1]; g.key == string(key) {
				return c.slot - 1, g
			}
		}
	}
}

// put enters g under the hash of its key and returns its slot.
func (st *correlationState) put(g *group, hash uint64) uint32 {
	var slot uint32
	if n := len(st.free); n > 0 {
		slot = st.free[n-1]
		st.free = st.free[:n-1]
		st.groups[slot] = g
	} else {
		slot = uint32(len(st.groups))
		st.groups = append(st.groups, g)
		st.uses = append(st.uses, 0)
	}
	st.puts++
	g.number = st.puts
	st.index.add(hash, slot)
	if !g.tombstone {
		st.live++
		st.ages.Insert(slot, g.age())
	}
	return slot
}

// drop removes the group in slot without leaving a tombstone.
func (e *Engine) drop(st *correlationState, slot uint32) {
	g := st.groups[slot]
	e.bytes -= g.bytes
	if g.tombstone {
		e.buried -= g.bytes
	} else {
		e.live--
		st.live--
		st.ages.Remove(slot)
	}
	st.index.remove(match.HashString(g.key), slot)
	st.groups[slot] = nil
	st.uses[slot]++
	st.free = append(st.free, slot)
}

// age is the second by which the group is ordered.
func (g *group) age() int64 {
	switch {
	case g.future:
		return age.Newest
	case g.window.Len() == 0:
		return age.Oldest
	}
	return g.window.Last()
}

// newest is the second from which the group's idle time is counted.
func (g *group) newest() int64 {
	if g.window.Len() == 0 {
		return g.high
	}
	return g.window.Last()
}

// clear removes the entries and the stored events.
func (st *correlationState) clear(g *group) {
	g.window.Clear()
	g.low, g.bytes = noEntries, st.bare(g)
	if g.extra != nil {
		g.extra.buffer = nil
	}
}

// The values of group.low without entries, and when it is not known.
const (
	noEntries = math.MaxInt64
	unknown   = math.MinInt64
)

// dropBefore removes the entries and the stored events that are older than cutoff.
func (g *group) dropBefore(cutoff int64) {
	if g.low < cutoff {
		g.low = cutoff
		g.bytes += g.window.DropBefore(cutoff)
	}
	if x := g.extra; x != nil {
		for len(x.buffer) > 0 && x.buffer[0].ts < cutoff {
			g.bytes -= x.buffer[0].weight()
			x.buffer = x.buffer[1:]
		}
	}
}

// pairs returns the key as results show it.
func (st *correlationState) pairs(key string, memory *arena[Pair]) []Pair {
	names := st.c.Source.GroupBy
	if len(names) == 0 {
		return nil
	}
	pairs := memory.take(len(names), pairPage)[:0]
	for _, name := range names {
		part, ok, rest := match.Cut(key)
		if ok {
			pairs = append(pairs, Pair{name, part})
		}
		key = rest
	}
	return pairs
}
