package correlation

import "github.com/sluicehq/sluice/sigma/correlation/window"

// journal remembers how the groups an event touched were before.
type journal struct {
	active bool
	clock  streamClock
	saved  []saved
	used   int // of saved; the others keep their windows for reuse
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

type saved struct {
	family *family
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
	e.journal.used = 0
	e.journal.undo.Reset()
	e.journal.clock = e.clock
}

// unstamp lets every group forget which event saved it: numbers begin anew.
func (e *Engine) unstamp() {
	e.event = 1
	for _, f := range e.families {
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
	for j.used > 0 {
		j.used--
		e.undo(&j.saved[j.used])
	}
	e.clock = j.clock
	e.fired, e.next = e.fired[:0], e.next[:0]
	e.copied = nil
	j.active = false
}

func (e *Engine) undo(s *saved) {
	f := s.family
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

// save remembers g, once per event.
func (e *Engine) save(f *family, slot uint32, g *group) {
	j := &e.journal
	if g.event == e.event || !j.active {
		return
	}
	s := j.entry()
	s.family, s.slot, s.made, s.state = f, slot, false, g.state
	if f.c.Stores || s.buffer != nil {
		s.buffer = g.buffer
	}
	s.window = g.window.Save(s.window)
	g.event = e.event
}

// created remembers that the group in slot is new.
func (j *journal) created(f *family, slot uint32) {
	if !j.active {
		return
	}
	s := j.entry()
	s.family, s.slot, s.made = f, slot, true
}

func (j *journal) entry() *saved {
	if j.used == len(j.saved) {
		j.saved = append(j.saved, saved{})
	}
	s := &j.saved[j.used]
	j.used++
	return s
}
