package kafka

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// records keeps the memory of records whose values are handed over, for those to come. The
// values themselves are not in it.
type records struct{ idle sync.Pool }

// GetRecords returns memory for n records.
func (r *records) GetRecords(n int) []kgo.Record {
	if all, ok := r.idle.Get().(*[]kgo.Record); ok && cap(*all) >= n {
		return (*all)[:0]
	}
	return make([]kgo.Record, 0, n)
}

// mostRecords is how many records memory has room for that is kept.
const mostRecords = 4096

// PutRecords takes memory back.
func (r *records) PutRecords(all []kgo.Record) {
	if cap(all) <= mostRecords {
		r.idle.Put(&all)
	}
}
