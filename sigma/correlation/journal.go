package correlation

import "github.com/sluicehq/sluice/sigma/correlation/internal/window"

// journal says whether the current event can be undone. The state before the event
// is kept by the correlations whose groups it changed.
type journal struct {
	active bool
	clock  streamClock
	bytes  int
	buried int
	undo   window.Undo
}

// undoing returns where windows record how to undo changes, nil when the event
// cannot be undone.
func (j *journal) undoing() *window.Undo {
	if !j.active {
		return nil
	}
	return &j.undo
}

// saves are the groups of a correlation as they were before an event.
type saves struct {
	event uint32 // the event they were saved for; valid for this one only
	used  int    // number of entries in use; the others keep their windows for reuse
	list  []saved
}

type saved struct {
	slot uint32
	made bool // there was no group before
	groupState
	more   bool // it had an extra
	extra  extra
	window window.Window // a copy
}

// Begin starts an event that Rollback can undo. The removal of groups over the
// limit is not undone.
func (e *Engine) Begin() {
	if e.event++; e.event == 0 {
		e.unstamp()
	}
	e.journal.active = true
	e.journal.undo.Reset()
	e.journal.clock = e.clock
	e.journal.note(e)
}

// note keeps what the state takes before the event. That stands for everything the
// event does, should it fail in the middle of a group.
func (j *journal) note(e *Engine) { j.bytes, j.buried = e.bytes, e.buried }

// unstamp clears all event numbers when they wrap around.
func (e *Engine) unstamp() {
	e.event = 1
	for _, st := range e.states {
		st.saved.event = 0
		for _, g := range st.groups {
			if g != nil {
				g.event = 0
			}
		}
	}
}

// Commit ends the event. What it did stays.
func (e *Engine) Commit() { e.journal.active = false }

// Rollback undoes everything since Begin. It may follow a panic anywhere in between.
func (e *Engine) Rollback() {
	j := &e.journal
	if !j.active {
		return
	}
	j.undo.Run()
	for _, st := range e.states {
		if st.saved.event != e.event {
			continue
		}
		for i := st.saved.used - 1; i >= 0; i-- {
			e.undo(st, &st.saved.list[i])
		}
		st.saved.used = 0
	}
	e.clock, e.bytes, e.buried = j.clock, j.bytes, j.buried
	e.fired, e.next = e.fired[:0], e.next[:0]
	e.copied, e.id = nil, nil
	j.active = false
}

func (e *Engine) undo(st *correlationState, s *saved) {
	if s.made {
		if st.groups[s.slot] != nil {
			e.drop(st, s.slot)
		}
		return
	}
	g := st.groups[s.slot]
	revived := s.tombstone && !g.tombstone
	if !g.tombstone {
		st.ages.Remove(s.slot)
		st.live--
		e.live--
	}
	g.window.Restore(s.window)
	g.window.Rebuild()
	g.groupState = s.groupState
	switch {
	case s.more:
		*g.extra = s.extra
	case g.extra != nil:
		*g.extra = extra{}
	}
	if revived {
		e.resetAlarm(st, s.slot, g, g.alarm)
	}
	if !g.tombstone {
		st.ages.Insert(s.slot, g.age())
		st.live++
		e.live++
	}
}

// save copies the group in slot to the journal. It is called once for each group
// that an event changes.
func (e *Engine) save(st *correlationState, slot uint32, g *group) {
	if !e.journal.active {
		return
	}
	s := st.saved.entry(e.event)
	s.slot, s.made, s.groupState = slot, false, g.groupState
	if s.more = g.extra != nil; s.more {
		s.extra = *g.extra
	}
	s.window = g.window.Save(s.window)
	g.event = e.event
}

// created notes in the journal that the group in slot is new.
func (e *Engine) created(st *correlationState, slot uint32) {
	if e.journal.active {
		s := st.saved.entry(e.event)
		s.slot, s.made = slot, true
	}
}

// entry returns the next entry for an event.
func (s *saves) entry(event uint32) *saved {
	if s.event != event {
		s.event, s.used = event, 0
	}
	if s.used == len(s.list) {
		s.list = append(s.list, saved{})
	}
	s.used++
	return &s.list[s.used-1]
}
