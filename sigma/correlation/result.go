package correlation

import (
	"strconv"

	"github.com/sluicehq/sluice/sigma/correlation/plan"
	"github.com/sluicehq/sluice/sigma/event"
)

// Pair is one part of a group key: the group-by field or alias, and its value.
type Pair struct{ Field, Value string }

// EventRef refers to an event that contributed.
type EventRef struct {
	Time  int64
	ID    string
	HasID bool
}

// Result is one firing of a correlation. Its parts are shared and must not be
// changed.
type Result struct {
	Rule   *plan.Rule
	Key    []Pair // without the missing parts
	Value  float64
	Time   int64      // of the event that fired it, Unix seconds
	Events [][]byte   // JSON, oldest first; nil unless events are included in full
	Refs   []EventRef // oldest first; nil unless events are included as references
}

// pages are memory for results, taken for several at a time: with action alert
// every event makes some. What was given away is never used again.
type pages struct {
	results []Result
	pairs   []Pair
}

// Sizes of the pieces in which memory is taken.
const (
	resultPage = 32
	pairPage   = 64
)

func (p *pages) result() *Result {
	if len(p.results) == 0 {
		p.results = make([]Result, resultPage)
	}
	r := &p.results[0]
	p.results = p.results[1:]
	return r
}

// room returns an empty list with room for n pairs.
func (p *pages) room(n int) []Pair {
	if len(p.pairs) < n {
		p.pairs = make([]Pair, max(pairPage, n))
	}
	list := p.pairs[:0:n]
	p.pairs = p.pairs[n:]
	return list
}

// AppendNative appends the native line without its line feed. Enrichments is a
// JSON object, or empty for none.
func (r *Result) AppendNative(dst, enrichments []byte) []byte {
	dst = r.Rule.AppendHead(dst, r.Time, enrichments)
	for i, p := range r.Key {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = event.AppendQuoted(append(dst, '['), p.Field)
		dst = event.AppendQuoted(append(dst, ','), p.Value)
		dst = append(dst, ']')
	}
	dst = AppendNumber(append(dst, `],"aggregated_value":`...), r.Value)
	dst = r.Rule.AppendTimespan(dst)
	if r.Events != nil {
		dst = appendList(append(dst, `,"events":`...), r.Events, func(dst, e []byte) []byte { return append(dst, e...) })
	}
	if r.Refs != nil {
		dst = appendList(append(dst, `,"event_refs":`...), r.Refs, appendRef)
	}
	return append(dst, '}')
}

func appendList[T any](dst []byte, list []T, one func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, e)
	}
	return append(dst, ']')
}

func appendRef(dst []byte, r EventRef) []byte {
	dst = strconv.AppendInt(append(dst, `{"timestamp":`...), r.Time, 10)
	if r.HasID {
		dst = event.AppendQuoted(append(dst, `,"id":`...), r.ID)
	}
	return append(dst, '}')
}

// AppendNumber appends a finite number as JSON: the shortest spelling that reads
// back the same, with an exponent only beyond 1e21 and below 1e-6.
func AppendNumber(dst []byte, v float64) []byte {
	const whole = 1 << 53 // up to here every integer is a float64
	if i := int64(v); i > 0 && i < whole && float64(i) == v {
		return strconv.AppendInt(dst, i, 10)
	}
	format := byte('f')
	if abs := max(v, -v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, v, format, -1, 64)
}
