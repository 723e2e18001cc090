package correlation

import (
	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
)

// propagate forwards the firings of the current event to dependent correlations,
// level by level.
func (e *Engine) propagate(out []*Result) []*Result {
	for level := 0; len(e.fired) > 0; level++ {
		if level == program.MaxLevels {
			e.outcome.Truncated += len(e.fired)
			break
		}
		// What fires now belongs to the next level.
		current := e.fired
		e.fired = e.next[:0]
		for _, lower := range current {
			for i := range lower.state.c.Dependents {
				if r := e.forward(lower, &lower.state.c.Dependents[i]); r != nil {
					out = append(out, r)
				}
			}
		}
		e.next = current
	}
	e.fired = e.fired[:0]
	return out
}

// forward applies a firing to a correlation that depends on it.
func (e *Engine) forward(lower firing, u *program.Dependent) *Result {
	st := e.states[u.Index]
	if !e.chained(lower, u, st.c) {
		return nil
	}
	e.key = e.key[:0]
	for _, part := range u.Key {
		text, _, present := e.originValue(lower, part)
		if present {
			e.key = match.AppendPart(e.key, text)
		} else {
			e.key = match.AppendMissing(e.key)
		}
	}
	return e.apply(st, match.Hash(e.key), e.key, false)
}

// chained sets e.value to what a firing contributes to a dependent correlation and
// reports whether it contributes anything.
func (e *Engine) chained(lower firing, u *program.Dependent, c *program.Correlation) bool {
	v := &e.value
	v.Members = u.Members
	switch c.Kind {
	case match.Nothing:
		return true
	case match.Number:
		text, numeric, ok := e.originValue(lower, u.Values[0])
		if !ok || !numeric {
			return false
		}
		v.Number, ok = match.ParseNumber(text)
		return ok
	}
	e.text = e.text[:0]
	for _, o := range u.Values {
		text, _, ok := e.originValue(lower, o)
		if !ok && e.isNull(o) {
			text, ok = []byte("null"), true
		}
		if !ok {
			return false
		}
		if len(u.Values) > 1 {
			e.text = match.AppendPart(e.text, text)
		} else {
			e.text = append(e.text, text...)
		}
	}
	v.Text, v.Mark = e.text, window.Hash(e.text)
	return true
}

// originValue returns the text of a field of a chained update, and whether it may be
// read as a number.
func (e *Engine) originValue(lower firing, o program.Origin) (text []byte, numeric, ok bool) {
	if o.Part >= 0 {
		part, ok := match.Part(lower.key, o.Part)
		return []byte(part), true, ok
	}
	f, ok := e.record.Field(o.Field)
	return f.Text, f.Number, ok && !f.Null
}

func (e *Engine) isNull(o program.Origin) bool {
	if o.Part >= 0 {
		return false
	}
	f, ok := e.record.Field(o.Field)
	return ok && f.Null
}
