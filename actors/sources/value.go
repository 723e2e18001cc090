package sources

import (
	"bytes"

	"github.com/sluicehq/sluice/sources/fetch"
)

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
	basis  basis
	stored bool // it is from the state database
}

// judge decides which value counts after a fetch. last is the last one that was got, nil if
// there is none.
func judge(d *fetch.Declaration, last []byte, got fetch.Value, failure *fetch.Error) value {
	switch {
	case failure == nil && got.Pending:
		return value{json: last, basis: pending}
	case failure == nil:
		return value{json: got.JSON, basis: fresh}
	case d.OnError == fetch.UseDefault:
		return value{json: d.Default, basis: fallback}
	case d.OnError == fetch.UseCached && last != nil:
		return value{json: last, basis: cached}
	}
	return value{basis: unresolved}
}

// equal compares values as compact JSON.
func equal(a, b []byte) bool { return isNull(a) && isNull(b) || bytes.Equal(a, b) }

func isNull(json []byte) bool { return len(json) == 0 || string(json) == "null" }
