package correlation

import (
	"strconv"
	"unsafe"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
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
	Rule   *program.Rule
	Key    []Pair // without the missing parts
	Value  float64
	Time   int64      // of the event that fired it, Unix seconds
	Events [][]byte   // JSON, oldest first; nil unless events are included in full
	Refs   []EventRef // oldest first; nil unless events are included as references
}

// Sizes of the pages in which memory for results is taken.
const (
	resultPage = 32
	pairPage   = 64
)

// arena allocates values in pages, because with action alert every event makes
// results. Memory is reused only after release.
type arena[T any] struct {
	rest  []T   // unused part of the current page
	pages [][]T // for reuse, when kept
	next  int   // the first page that is not in use
	kept  bool
}

// take returns n values, which are not zeroed.
func (a *arena[T]) take(n, page int) []T {
	if len(a.rest) < n {
		a.turn(max(n, page))
	}
	taken := a.rest[:n:n]
	a.rest = a.rest[n:]
	return taken
}

// turn makes a page of at least the given size the current one.
func (a *arena[T]) turn(size int) {
	for a.next < len(a.pages) {
		a.rest = a.pages[a.next]
		if a.next++; len(a.rest) >= size {
			return
		}
	}
	a.rest = make([]T, size)
	if a.kept {
		a.pages = append(a.pages, a.rest)
		a.next++
	}
}

// release makes all memory available again. From then on pages are kept.
func (a *arena[T]) release() { a.rest, a.next, a.kept = nil, 0, true }

// Release ends the validity of all results so far: their memory is reused for the
// next ones.
func (e *Engine) Release() {
	e.results.release()
	e.pairs.release()
}

// Held is how many bytes of memory the result and its parts take. Several results
// of an event may share some of them.
func (r *Result) Held() int {
	n := int(unsafe.Sizeof(*r)) + len(r.Key)*int(unsafe.Sizeof(Pair{})) +
		len(r.Events)*int(unsafe.Sizeof(r.Events)) + len(r.Refs)*int(unsafe.Sizeof(EventRef{}))
	for i := range r.Key {
		n += len(r.Key[i].Field) + len(r.Key[i].Value)
	}
	for _, e := range r.Events {
		n += len(e)
	}
	for i := range r.Refs {
		n += len(r.Refs[i].ID)
	}
	return n
}

// AppendNative appends the native line without its line feed. Enrichments is a
// JSON object, or empty for none.
func (r *Result) AppendNative(dst, enrichments []byte) []byte {
	dst = r.appendAggregate(r.Rule.AppendHead(dst, r.Time, enrichments))
	if r.Events != nil {
		dst = r.AppendEvents(dst)
	}
	if r.Refs != nil {
		dst = r.AppendRefs(dst)
	}
	return append(dst, '}')
}

// AppendAggregate appends the members correlation_type, group_key, aggregated_value and
// timespan_secs, each with a comma in front.
func (r *Result) AppendAggregate(dst []byte) []byte {
	return r.appendAggregate(r.Rule.AppendKind(dst))
}

// appendAggregate appends what follows the opening bracket of the group key, up to the
// timespan.
func (r *Result) appendAggregate(dst []byte) []byte {
	for i := range r.Key {
		p := &r.Key[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = event.AppendQuoted(append(dst, '['), p.Field)
		dst = event.AppendQuoted(append(dst, ','), p.Value)
		dst = append(dst, ']')
	}
	dst = AppendNumber(append(dst, `],"aggregated_value":`...), r.Value)
	return r.Rule.AppendTimespan(dst)
}

// AppendEvents appends the member events with a comma in front.
func (r *Result) AppendEvents(dst []byte) []byte {
	return appendList(append(dst, `,"events":`...), r.Events, func(dst, e []byte) []byte { return append(dst, e...) })
}

// AppendRefs appends the member event_refs with a comma in front.
func (r *Result) AppendRefs(dst []byte) []byte {
	return appendList(append(dst, `,"event_refs":`...), r.Refs, appendRef)
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

// ResultOf returns a result of a correlation without its program, for the caller to fill
// in: for what reads the native lines of an earlier run. withTime says that its native
// line tells the time.
func ResultOf(c *ast.Correlation, withTime bool) *Result {
	return &Result{Rule: program.NewRule(0, c, withTime)}
}
