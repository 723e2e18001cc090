package alert

import (
	"hash/maphash"
	"math"

	"github.com/sluicehq/sluice/graph/alert/sample"
)

// mutes remembers which records are held, and until when at least, so that a hundred
// thousand of them are not read again at every tick. A record is known by the hash of its
// sample, which nobody can guess.
type mutes struct {
	seed         maphash.Seed
	tick, before map[uint64]hold // asked for at this tick, and at the one before
	released     uint64          // silences and sources that had gone when the holds were noted
}

// hold is a record that was held when it was looked at.
type hold struct{ from, until int64 }

// forget drops what is known.
func (m *mutes) forget() { m.tick, m.before = nil, nil }

// turn ends a tick: what was not asked for at it is forgotten.
func (m *mutes) turn() {
	m.before, m.tick = m.tick, m.before
	clear(m.tick)
	if len(m.before) == 0 {
		m.before, m.tick = nil, nil
	}
}

// muted reports whether a silence or an inhibition holds a record about a result.
func (t *ticker) muted(line []byte) bool {
	if !t.holds {
		return false
	}
	m := &t.mutes
	if gone := t.silences.Released() + t.inhibit.Evicted(); gone != m.released {
		m.forget()
		m.released = gone
	}
	key := maphash.Bytes(m.seed, line)
	known, ok := m.before[key]
	if !ok || t.now < known.from || t.now >= known.until {
		if known, ok = t.hold(line); !ok {
			return false
		}
	}
	if m.tick == nil {
		m.tick = make(map[uint64]hold)
	}
	m.tick[key] = known
	return true
}

// hold looks what holds a record about a result.
func (t *ticker) hold(line []byte) (hold, bool) {
	r, err := sample.Read(line)
	if err != nil {
		return hold{}, false
	}
	if s := t.silences.MutesSample(r, t.now); s != nil {
		if s.HasEnd {
			return hold{t.now, s.EndsAt}, true
		}
		return hold{t.now, math.MaxInt64}, true
	}
	until, inhibited := t.inhibit.InhibitsSample(r, t.now)
	return hold{t.now, until}, inhibited
}
