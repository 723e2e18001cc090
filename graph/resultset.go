package graph

import (
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/result"
)

// Result is one result of a line: a detection or a correlation, and what later
// stages wrote beside it.
type Result struct {
	Detection   *result.Detection   // nil for a correlation
	Correlation *correlation.Result // nil for a detection; shared, as all of its parts are
	Enrichments []byte              // a JSON object, nil for none; ResultSet.Enrich sets it
}

// The kinds of results.
const (
	KindDetection   Kind = "detection"
	KindCorrelation Kind = "correlation"
)

// Kind is what the result is.
func (r *Result) Kind() Kind {
	if r.Detection != nil {
		return KindDetection
	}
	return KindCorrelation
}

// AppendNative appends the result's native line, without its line feed.
func (r *Result) AppendNative(dst []byte) []byte {
	if r.Detection != nil {
		return r.Detection.AppendNative(dst, r.Enrichments)
	}
	return r.Correlation.AppendNative(dst, r.Enrichments)
}

// Size is about how many bytes the result's native line has.
func (r *Result) Size() int {
	if r.Detection != nil {
		return r.Detection.Size() + len(r.Enrichments)
	}
	return r.Correlation.Held() + len(r.Enrichments)
}

// Record is what leaves the daemon and is no Sigma result: an incident, a risk
// event, a summary. It carries no token.
type Record interface {
	// AppendNative appends the record's native line, without its line feed.
	AppendNative(dst []byte) []byte
	// Kind is what the record is, as forms filter by it.
	Kind() Kind
}

// Addressed is a record that has a subject of its own on NATS.
type Addressed interface {
	Record
	NATSSubject() string // empty for the usual one
}

// ResultSet is the unit of work behind correlate: the results of one line, or one
// record, or a barrier. It belongs to whoever holds it until it is dispatched.
type ResultSet struct {
	Token   Token
	Raw     []byte       // the original line, quarantined if a stage cannot process the set
	Buffer  *Buffer      // what Raw lies in, with the share of the line
	Results []Result     // in evaluation order; of each event detections first, then correlations
	Held    int          // bytes that Results hold
	Record  Record       // instead of results
	Barrier *Barrier     // instead of anything
	arena   *ResultArena // what the set and its results lie in, with a share of the set's; nil for memory of its own
}

// Enrich gives result i its enrichments, a JSON object.
func (s *ResultSet) Enrich(i int, object []byte) {
	r := &s.Results[i]
	s.Held += len(object) - len(r.Enrichments)
	r.Enrichments = object
}

// SizeOfResultSet is the size of a result set in a data lane: one unit, and the
// bytes of its line and results.
func SizeOfResultSet(s *ResultSet) (units, bytes int) { return 1, len(s.Raw) + s.Held }
