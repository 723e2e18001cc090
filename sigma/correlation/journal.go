package correlation

import "github.com/sluicehq/sluice/sigma/correlation/internal/window"

// journal says whether the event in hand can be undone. What there was before is
// kept by the families whose groups it touched.
type journal struct {
	active bool
	clock  streamClock
	undo   window.Undo
}

// undoing returns where windows tell how to take changes back, nil when nobody
// will ask.
func (j *journal) undoing() *window.Undo {
	if !j.active {
		return nil
	}
	return &j.undo
}

// saves are how the groups of a family were before an event.
type saves struct {
	event uint32 // they are of this one; of another they are none
	used  int    // of list; the others keep their windows for reuse
	list  []saved
}

type saved struct {
	slot   uint32
	made   bool // there was no group before
	state  state
	buffer []stored
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
}

// unstamp lets everybody forget which event saved what: numbers begin anew.
func (e *Engine) unstamp() {
	e.event = 1
	for _, f := range e.families {
		f.saved.event = 0
		for _, g := range f.groups {
			if g != nil {
				g.event = 0
			}
		}
	}
}

// Commit ends the event. What it did stays.
func (e *Engine) Commit() { e.journal.active = false }

// Rollback undoes what happened since Begin, wherever it was interrupted.
func (e *Engine) Rollback() {
	j := &e.journal
	if !j.active {
		return
	}
	j.undo.Run()
	for _, f := range e.families {
		if f.saved.event != e.event {
			continue
		}
		for i := f.saved.used - 1; i >= 0; i-- {
			e.undo(f, &f.saved.list[i])
		}
		f.saved.used = 0
	}
	e.clock = j.clock
	e.fired, e.next = e.fired[:0], e.next[:0]
	e.copied = nil
	j.active = false
}

func (e *Engine) undo(f *family, s *saved) {
	if s.made {
		if f.groups[s.slot] != nil {
			f.drop(s.slot)
			e.live--
		}
		return
	}
	g := f.groups[s.slot]
	revived := s.state.ghost && !g.ghost
	if !g.ghost {
		f.ages.Remove(s.slot)
		f.live--
		e.live--
	}
	g.window.Restore(s.window)
	g.window.Rebuild()
	g.state, g.buffer = s.state, s.buffer
	if revived {
		e.resetAlarm(f, s.slot, g, g.alarm)
	}
	if !g.ghost {
		f.ages.Insert(s.slot, g.age())
		f.live++
		e.live++
	}
}

// save remembers the group in slot. It is called once for each group an event
// touches.
func (e *Engine) save(f *family, slot uint32, g *group) {
	if !e.journal.active {
		return
	}
	s := f.saved.entry(e.event)
	s.slot, s.made, s.state = slot, false, g.state
	if f.c.Stores || s.buffer != nil {
		s.buffer = g.buffer
	}
	s.window = g.window.Save(s.window)
	g.event = e.event
}

// created remembers that the group in slot is new.
func (e *Engine) created(f *family, slot uint32) {
	if e.journal.active {
		s := f.saved.entry(e.event)
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
