package alert

import (
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/graph/alert/silence"
)

// FullError is the error of a silence too many.
type FullError struct{ Limit int }

// Error names the limit.
func (e *FullError) Error() string {
	return fmt.Sprintf("there are %d silences already, which is the limit (max_silences): delete some, or raise it", e.Limit)
}

// full is a *FullError when no silence may be made.
func (a *shell) full() error {
	if limit := a.pipeline.MaxSilences(); a.pipeline.Silences().Stored() >= limit {
		return &FullError{limit}
	}
	return nil
}

// add puts a silence in force and returns the reply.
func (a *shell) add(m addSilence) any {
	if err := a.full(); err != nil {
		return err
	}
	if m.claim.take() {
		a.isolate.Apply(func() { a.pipeline.Silences().Add(m.silence) })
		a.made = append(a.made, m.silence)
		a.log.Info("silence made", "id", m.silence.ID)
	}
	return silenceAdded{}
}

// remove removes a silence and returns the reply.
func (a *shell) remove(m removeSilence) any {
	found := a.pipeline.Silences().Find(m.id)
	if found == nil || !m.claim.take() {
		return silenceRemoved(found != nil)
	}
	a.isolate.Apply(func() { a.pipeline.Silences().Remove(m.id) })
	a.made = slices.DeleteFunc(a.made, func(x *silence.Silence) bool { return x == found })
	a.log.Info("silence deleted", "id", m.id)
	return silenceRemoved(true)
}
