package audit

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
)

// Record is one use of an endpoint that changes something.
type Record struct {
	ID       int64  `json:"id"` // ascends, and is never given twice
	TS       int64  `json:"ts"` // Unix seconds, when the outcome was known
	Method   string `json:"method"`
	Endpoint string `json:"endpoint"` // the pattern of the route, not the path of the request
	// Token is the name of the caller's token, empty for a caller without one.
	Token string `json:"token,omitempty"`
	// PayloadDigest is the SHA-256 of the body in lower-case hexadecimal; nil for an empty
	// body, for one that was too large or broke off, and for DELETE, of which none is read.
	PayloadDigest *string `json:"payload_digest"`
	Status        int     `json:"status"`
}

// line is the record as an object, without a line feed.
func (r *Record) line() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// A key is id and time, so that rows are counted, selected and pruned by their keys.
const keyBytes = 16

func keyOf(id, ts int64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(make([]byte, 0, keyBytes), uint64(id)), uint64(ts))
}

// parseKey reports false for what is no key of a record.
func parseKey(key []byte) (id, ts int64, ok bool) {
	if len(key) != keyBytes {
		return 0, 0, false
	}
	return int64(binary.BigEndian.Uint64(key)), int64(binary.BigEndian.Uint64(key[8:])), true
}

// lastKey is the row that holds the last id, once the record that had it is gone. It is
// behind all keys of records.
var lastKey = []byte("\xfflast")

// Query selects records.
type Query struct {
	Limit, Offset int
	Since, Until  int64 // Unix seconds, both included
}

// All selects all records, a page of none.
func All() Query { return Query{Since: math.MinInt64, Until: math.MaxInt64} }

func (q Query) unfiltered() bool { return q.Since == math.MinInt64 && q.Until == math.MaxInt64 }

// Page is a page of records, newest first. Count is the number of all that the query
// selects.
type Page struct {
	Count   int      `json:"count"`
	Entries []Record `json:"entries"`
}
