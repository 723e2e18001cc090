package sources

import (
	"math/bits"
	"sync"

	"github.com/sluicehq/sluice/graph"
)

const (
	smallest   = 512
	firstChunk = 8 << 10 // enough for a request with one event
	chunkSize  = 64 << 10
)

// Buffers lends the memory that lines lie in, and takes it back when the last
// line of it has ended. Any number of readers may share one; a nil *Buffers makes
// memory that is nobody's but the lines'.
type Buffers struct {
	idle [chunkSizes]sync.Pool // by size, from smallest to chunkSize
}

// chunkSizes is how many sizes of chunks are kept.
const chunkSizes = 8

// get returns memory without content, of the given size at least, and the chunk
// it belongs to, with a share for the caller. Memory larger than chunkSize is for
// a long line and not kept.
func (b *Buffers) get(size int) (*graph.Buffer, []byte) {
	class := bits.Len(uint(size-1) / smallest)
	if b == nil || class >= chunkSizes {
		return nil, make([]byte, 0, size)
	}
	c, ok := b.idle[class].Get().(*graph.Buffer)
	if ok {
		c.Retain(1)
	} else {
		c = graph.NewBuffer(make([]byte, 0, smallest<<class), func(c *graph.Buffer) { b.idle[class].Put(c) })
	}
	return c, c.Bytes[:0]
}
