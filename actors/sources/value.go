package sources

import "github.com/sluicehq/sluice/sources/fetch"

// basis is what a value rests on.
type basis uint8

const (
	fresh      basis = iota // it was fetched
	pending                 // no message has come yet: the last value, or null
	cached                  // the fetch failed: the last value
	fallback                // the fetch failed: the default
	unresolved              // the fetch failed, and there is no value
)

// value is what a source is worth after a fetch.
type value struct {
	json   []byte // compact; nil is null
	id     identity
	basis  basis
	stored bool // it is from the state database
}

// judge decides which value counts after a fetch of a source.
func judge(e *entry, got fetch.Value, id identity, failure *fetch.Error) value {
	switch {
	case failure == nil && got.Pending:
		return e.lastly(pending)
	case failure == nil:
		return value{json: got.JSON, id: id, basis: fresh}
	case e.OnError == fetch.UseDefault:
		return value{json: e.Default, id: e.defaultID, basis: fallback}
	case e.OnError == fetch.UseCached && e.last != nil:
		return e.lastly(cached)
	}
	return value{id: identityOf(nil), basis: unresolved}
}

// lastly is the last value of a source.
func (e *entry) lastly(b basis) value {
	return value{json: e.last, id: e.lastID, basis: b, stored: e.restored}
}
