package state

import (
	"iter"
	"slices"
)

// Position is how far a source had come: the highest sequence such that every
// message delivered up to it lies before the save, and that message's publish
// time.
type Position struct {
	Stream   string `json:"stream,omitempty"`
	Consumer string `json:"consumer,omitempty"` // of the stream, as each has come as far as it has
	Sequence uint64 `json:"sequence"`
	Time     int64  `json:"time"` // Unix seconds
}

// Covered names the messages of a stream's consumer that lie before a save and
// whose acknowledgement was not confirmed when it was written. The stream may
// deliver them again, although the save holds their effect.
type Covered struct {
	Stream   string `json:"stream"`
	Consumer string `json:"consumer"`
	Ranges   Ranges `json:"ranges"`
}

// Ranges is a set of sequences, as pairs: the distance of a range from the end of
// the one before it, and its length. So a head of very many gaps stays small.
type Ranges []uint64

// RangesOf returns the ranges of sequences that are sorted and distinct.
func RangesOf(sequences []uint64) (r Ranges) {
	var end uint64 // behind the last range
	for _, s := range sequences {
		if len(r) == 0 || s != end {
			r = append(r, s-end, 0)
		}
		r[len(r)-1]++
		end = s + 1
	}
	return r
}

// All yields the sequences in order.
func (r Ranges) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		var next uint64
		for pair := range slices.Chunk(r, 2) {
			next += pair[0]
			for range pair[len(pair)-1] {
				if !yield(next) {
					return
				}
				next++
			}
		}
	}
}
