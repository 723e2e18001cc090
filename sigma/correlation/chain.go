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
		e.key, _ = e.appendOrigin(e.key, lower, part)
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
		var ok bool
		v.Number, ok = e.number(lower, u.Values[0])
		return ok
	}
	e.text = e.text[:0]
	for _, o := range u.Values {
		var ok bool
		if e.text, ok = e.appendOrigin(e.text, lower, o); ok {
			continue
		}
		if o.Part >= 0 || !e.isNull(o.Field) {
			return false
		}
		e.text = match.AppendPart(e.text[:len(e.text)-1], "null") // in place of the missing one
	}
	if len(u.Values) == 1 {
		e.single = match.AppendCounted(e.single[:0], e.text)
		v.Text, v.Mark = e.single, window.Hash(e.single)
		return true
	}
	v.Text, v.Mark = e.text, window.Hash(e.text)
	return true
}

// appendOrigin appends a value of a chained update as a part, a missing one when there
// is none.
func (e *Engine) appendOrigin(dst []byte, lower firing, o program.Origin) (out []byte, ok bool) {
	if o.Part >= 0 {
		part, ok := match.Part(lower.key, o.Part)
		return append(dst, part...), ok
	}
	f, ok := e.record.Field(o.Field)
	switch {
	case !ok || f.Null:
		return match.AppendMissing(dst), false
	case f.Long != nil:
		return e.sealing().Seal(dst, f.Long), true
	}
	return match.AppendPart(dst, f.Text), true
}

// number returns a value of a chained update that is or spells a number.
func (e *Engine) number(lower firing, o program.Origin) (float64, bool) {
	if o.Part < 0 {
		f, ok := e.record.Field(o.Field)
		if !ok || f.Null {
			return 0, false
		}
		return f.Numeric()
	}
	part, ok := match.Part(lower.key, o.Part)
	if !ok {
		return 0, false
	}
	text, _, _ := match.Cut(part)
	return match.ParseNumber([]byte(text))
}

func (e *Engine) isNull(field int) bool {
	f, ok := e.record.Field(field)
	return ok && f.Null
}

// seal makes the current update one that has no long texts: their places take what
// the state keeps of them. It returns the key with its hash.
func (e *Engine) seal(kind match.Kind, key []byte) (uint64, []byte) {
	secret, v := e.sealing(), &e.value
	switch kind {
	case match.Text:
		e.text = secret.SealText(e.text[:0], v.Text)
		v.Text, v.Mark = e.text, window.Hash(e.text)
	case match.Tuple:
		e.text = secret.Seal(e.text[:0], v.Text)
		v.Text, v.Mark = e.text, window.Hash(e.text)
	}
	e.key = secret.Seal(e.key[:0], key)
	return match.Hash(e.key), e.key
}

// sealing returns the key of the hashes of long texts.
func (e *Engine) sealing() *match.Secret {
	if e.secret == (match.Secret{}) {
		e.secret = match.NewSecret()
	}
	return &e.secret
}
