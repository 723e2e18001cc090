package correlate

import (
	"time"

	"github.com/sluicehq/sluice/graph"
)

// swap carries the state over to the correlations of the rule set in force.
func (s *shell) swap() {
	p := s.planOf(s.set)
	if s.engine.Program() == p {
		return
	}
	s.Cell().Guard().Apply(func() {
		for _, d := range s.engine.Swap(p, s.now) {
			s.log.Warn("correlation state dropped", "correlation", d.Correlation, "reason", d.Reason, "groups", d.Groups)
			s.metrics.effects.reload.Add(float64(d.Groups))
		}
	})
}

// correlate counts the matches of line i. What fires waits in s.merge. Nothing is
// counted again when the line is given again because something behind this broke.
func (s *shell) correlate(b *graph.Batch, i int, now time.Time) error {
	if s.merge.counted > i {
		return nil
	}
	s.merge.firings = s.merge.firings[:0]
	span := b.Outcomes[i].Matches
	for m := span.From; m < span.To; m++ {
		s.record = b.Matches[m].Record
		if p := s.Cell().Guard().Step(s.step, s.undo); p != nil {
			return p
		}
		s.metrics.effects.add(&s.outcome)
		s.notices.add(&s.outcome)
		if s.outcome.Evicted > 0 {
			s.notices.evicted(s.log, &s.outcome, s.engine.MaxGroups(), now)
		}
		for _, r := range s.fired {
			s.metrics.fired(r.Rule)
			s.merge.firings = append(s.merge.firings, firing{b.Matches[m].Results, r})
		}
	}
	s.merge.counted = i + 1
	return nil
}

// event is the step of one event. Other events see all of it or nothing.
func (s *shell) event() {
	s.engine.Begin()
	s.process()
	s.engine.Commit()
}

// apply gives the event to the engine. A record that cannot be read is the
// fault of its event, like a panic.
func (s *shell) apply() {
	var err error
	if s.fired, s.outcome, err = s.engine.Process(s.record, s.now, s.fired[:0]); err != nil {
		panic(err)
	}
}

func (s *shell) rollback() { s.engine.Rollback() }

// advance lets go of groups whose time is over: of some, if there are many, and
// reports whether that was all.
func (s *shell) advance(now time.Time) (all bool) {
	s.Cell().Guard().Apply(func() { s.outcome, all = s.engine.AdvanceSome(now.Unix(), timersAtOnce) })
	s.metrics.effects.add(&s.outcome)
	s.metrics.groups.Store(int64(s.engine.Groups()))
	s.notices.tell(s.log, now)
	return all
}
