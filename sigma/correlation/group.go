package correlation

import (
	"math"

	"github.com/sluicehq/sluice/sigma/correlation/internal/age"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
	"github.com/sluicehq/sluice/sigma/correlation/match"
)

// group is the state of one group key of one correlation.
//
// A group that an export has seen is never changed: own replaces it first.
type group struct {
	key    string
	window window.Window
	buffer []stored // events that contributed, oldest first; never overwritten
	state
}

// state is what of a group is plain numbers.
type state struct {
	high    int64 // newest timestamp accepted; survives an action reset
	low     int64 // no entry is older
	last    int64 // last emission
	touched int64 // wall time at which it was last accepted into
	alarm   int64 // wall time for which its timer is set

	event    uint32 // the event that saved it in the journal last
	exported uint32 // number of exports when it was made
	sweep    uint32 // number of sweeps it has taken part in
	late     uint8  // consecutive discards

	hasHigh bool
	hasLast bool
	ghost   bool // nothing but a suppression time: no group to anybody
}

// stored is an event kept for results: a reference or a deflated copy.
type stored struct {
	ts    int64
	hasID bool
	data  []byte
}

// family is all state of one correlation.
type family struct {
	c      *program.Correlation
	index  table
	groups []*group // by slot, nil when free
	uses   []uint32 // by slot: how often it was taken, to tell timers apart
	free   []uint32
	ages   age.Order
	live   int           // groups that are no ghosts
	saved  saves         // before the event in hand
	void   window.Window // the empty window that all ghosts share

	// A sweep trims every group to cutoff; groups do it when next touched.
	sweeps uint32
	cutoff int64
	gone   bool
}

func newFamily(c *program.Correlation) *family {
	return &family{c: c, void: c.NewWindow()}
}

// second is by what the group in a slot is ordered.
func (f *family) second(slot uint32) int64 { return f.groups[slot].age() }

// find returns the group of a key and its slot, nil when there is none.
func (f *family) find(hash uint64, key []byte) (uint32, *group) {
	if f.index.n == 0 {
		return 0, nil
	}
	for i := uint32(hash); ; i++ {
		c := f.index.at(i)
		if c.slot == 0 {
			return 0, nil
		}
		if c.hash == uint32(hash) {
			if g := f.groups[c.slot-1]; g.key == string(key) {
				return c.slot - 1, g
			}
		}
	}
}

// put enters g under the hash of its key and returns its slot.
func (f *family) put(g *group, hash uint64) uint32 {
	var slot uint32
	if n := len(f.free); n > 0 {
		slot = f.free[n-1]
		f.free = f.free[:n-1]
		f.groups[slot] = g
	} else {
		slot = uint32(len(f.groups))
		f.groups = append(f.groups, g)
		f.uses = append(f.uses, 0)
	}
	f.index.add(hash, slot)
	if !g.ghost {
		f.live++
		f.ages.Insert(slot, g.age())
	}
	return slot
}

// drop removes the group in slot altogether.
func (f *family) drop(slot uint32) {
	g := f.groups[slot]
	if !g.ghost {
		f.live--
		f.ages.Remove(slot)
	}
	f.index.remove(match.HashString(g.key), slot)
	f.groups[slot] = nil
	f.uses[slot]++
	f.free = append(f.free, slot)
}

// age is the second by which the group is ordered.
func (g *group) age() int64 {
	if g.window.Len() == 0 {
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

func (g *group) clear() {
	g.window.Clear()
	g.low = unentered
	if g.buffer != nil {
		g.buffer = nil
	}
}

// What group.low is when there are no entries, and when nobody knows.
const (
	unentered = math.MaxInt64
	unknown   = math.MinInt64
)

// dropBefore removes the entries older than cutoff, and the events that are.
func (g *group) dropBefore(cutoff int64) {
	if g.low < cutoff {
		g.low = cutoff
		g.window.DropBefore(cutoff)
	}
	for len(g.buffer) > 0 && g.buffer[0].ts < cutoff {
		g.buffer = g.buffer[1:]
	}
}

// pairs returns the key as results show it.
func (f *family) pairs(key string, memory *arena[Pair]) []Pair {
	names := f.c.Source.GroupBy
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
