package dedup

import (
	"slices"

	"github.com/sluicehq/sluice/graph/alert/incident"
)

// Tick gives emit the records that are due at now, those of the oldest alerts first. An
// alert without results for the time Resolve is over: gone is told which incident it named,
// if any. An alert that got more results since its last record is reported when that was
// Repeat ago, unless muted holds its sample; then it is asked again at the next tick.
//
// A sample is the native line of the result that opened the alert, without events. It must
// not be changed.
func (s *Store) Tick(now int64, muted func(sample []byte) bool, emit func(*Summary), gone func(incident.Ref)) {
	list := s.seen.due(s.due[:0], now-s.config.Resolve)
	if s.config.Repeat > 0 {
		list = s.untold.due(list, now-s.config.Repeat)
	}
	s.due = list[:0]
	for _, n := range s.sorted(list) {
		a := s.slots.at(n)
		switch {
		case now-a.lastSeen >= s.config.Resolve:
			s.resolve(a, emit, gone)
		case !muted(a.sample()):
			s.told(a)
			a.lastEmitted, a.emitted = now, a.fires
			emit(a.summary(Repeat))
		}
	}
}

// sorted sorts a list of slots by the order of output. A slot may be in it twice before.
func (s *Store) sorted(list []int32) []int32 {
	slices.SortFunc(list, func(x, y int32) int { return s.slots.at(x).compare(s.slots.at(y).opening) })
	return slices.Compact(list)
}

func (s *Store) resolve(a *Alert, emit func(*Summary), gone func(incident.Ref)) {
	last, in := a.summary(Resolved), a.in
	s.remove(a)
	if in != (incident.Ref{}) {
		gone(in)
	}
	emit(last)
}

// Close ends all alerts, as when each had been idle for long.
func (s *Store) Close(emit func(*Summary), gone func(incident.Ref)) {
	var list []int32
	for a := range s.slots.all {
		list = append(list, a.slot)
	}
	for _, n := range s.sorted(list) {
		s.resolve(s.slots.at(n), emit, gone)
	}
}

// Next is the earliest tick that has a record to emit, as long as no result comes; false
// says that there is none. It is over already when muted held the record.
func (s *Store) Next() (at int64, ok bool) {
	if at, ok = s.seen.earliest(); ok {
		at += s.config.Resolve
	}
	if s.config.Repeat > 0 {
		if last, is := s.untold.earliest(); is && (!ok || last+s.config.Repeat < at) {
			at, ok = last+s.config.Repeat, true
		}
	}
	return at, ok
}

// NextBehind is the earliest second behind now at which something falls due, as long as no
// result comes; what is due at now does not count. It looks at every alert.
func (s *Store) NextBehind(now int64) (at int64, ok bool) {
	earlier := func(t int64) {
		if t > now && (!ok || t < at) {
			at, ok = t, true
		}
	}
	for a := range s.slots.all {
		earlier(a.lastSeen + s.config.Resolve)
		if a.untold && s.config.Repeat > 0 {
			earlier(a.lastEmitted + s.config.Repeat)
		}
	}
	return at, ok
}
