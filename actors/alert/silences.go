package alert

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/selector"
	"github.com/sluicehq/sluice/internal/plural"
)

// FullError is the error of a silence too many.
type FullError struct{ Limit int }

// Error names the limit.
func (e *FullError) Error() string {
	return "the limit of " + plural.Of(e.Limit, "silence") + " is reached (max_silences): delete some, or raise it"
}

// full is a *FullError when no silence may be made.
func (a *shell) full() error {
	if limit := a.pipeline.MaxSilences(); a.pipeline.Silences().Stored() >= limit {
		return &FullError{limit}
	}
	return nil
}

// Bounds of texts of silences in the log, in bytes.
const (
	maxMatchers = 1000
	maxName     = 200
)

// tell logs a change of a silence.
func (a *shell) tell(what string, x *silence.Silence) {
	attrs := []any{"id", x.ID, "matchers", matchersText(x.Matchers)}
	if x.HasEnd {
		attrs = append(attrs, "ends_at", time.Unix(x.EndsAt, 0).UTC().Format(time.RFC3339))
	}
	if x.CreatedBy != "" {
		attrs = append(attrs, "created_by", bounded(x.CreatedBy, maxName))
	}
	a.log.Info(what, attrs...)
}

// matchersText writes matchers as people do, as many as have room.
func matchersText(all []selector.Condition) string {
	var b strings.Builder
	for i, c := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(bounded(c.Selector, maxMatchers) + c.Op + strconv.Quote(bounded(c.Value, maxMatchers)))
		if b.Len() > maxMatchers {
			break
		}
	}
	return bounded(b.String(), maxMatchers)
}

// bounded is a text, without its end if it is too long.
func bounded(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// add puts a silence in force and returns the reply.
func (a *shell) add(m addSilence) any {
	if err := a.full(); err != nil {
		return err
	}
	if m.claim.take() {
		a.isolate.Apply(func() { a.pipeline.Silences().Add(m.silence) })
		a.made = append(a.made, m.silence)
		a.tell("silence made", m.silence)
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
	a.tell("silence deleted", found)
	return silenceRemoved(true)
}
