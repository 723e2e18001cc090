package graph

import (
	"encoding/hex"
	"time"
)

// DeliveryID is a random number that all sinks and retries of an item share.
type DeliveryID [16]byte

// String returns "msg_" and 32 hexadecimal digits.
func (id DeliveryID) String() string { return "msg_" + hex.EncodeToString(id[:]) }

// Item is what dispatch offers to the sinks: the rendered results of one line,
// or one record. All sinks share it, so nobody changes it; a sink that is through
// with it says so by End.
type Item struct {
	ID     DeliveryID
	Time   time.Time // of the delivery; the same for all sinks and retries
	Token  Token     // one share for each sink that took the item; zero for a record
	Record Record    // nil for results
	Lines  [][]byte  // native lines, each ending with LF
	Buffer *Buffer   // what the item lies in, with a share for each sink; nil for memory of its own
}

// Release gives a sink's share of the item back. The item is not the sink's any more.
func (i *Item) Release() { i.Buffer.Release(1) }

// SizeOfItem is the size of an item in a data lane: one unit, and what is rendered.
func SizeOfItem(i *Item) (units, bytes int) {
	for _, line := range i.Lines {
		bytes += len(line)
	}
	return 1, bytes
}
