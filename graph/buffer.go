package graph

import "sync/atomic"

// Buffer is memory that many lines lie in. Each of them holds a reference to it. When
// the last reference is released, the buffer returns to whoever made it, to be written
// again. A reference that is never released only costs the reuse.
type Buffer struct {
	Bytes  []byte
	shares atomic.Int64
	spent  func(*Buffer)
}

// SpareShares are more references than memory ever has holders. Who makes so many at
// once needs no atomic operation to hand one on, and releases the rest.
const SpareShares = 1 << 40

// NewBuffer returns a buffer with one reference, the caller's. spent is called each
// time the last reference is released, by whichever goroutine released it.
func NewBuffer(bytes []byte, spent func(*Buffer)) *Buffer {
	c := &Buffer{Bytes: bytes, spent: spent}
	c.shares.Store(1)
	return c
}

// Retain adds n references. The caller has one, or is the maker of a spent buffer.
func (c *Buffer) Retain(n int) {
	if c != nil {
		c.shares.Add(int64(n))
	}
}

// Release gives n shares back. The memory is not the caller's any more.
func (c *Buffer) Release(n int) {
	if c == nil || n == 0 || c.shares.Add(int64(-n)) != 0 {
		return
	}
	if clobbers {
		clobber(c.Bytes[:cap(c.Bytes)])
	}
	c.spent(c)
}

// clobber makes memory that was given back useless, so that a test under the
// race detector sees whoever still reads it.
func clobber(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}

// ReleaseLines gives the shares of lines back, whose texts are needed no longer.
func ReleaseLines(lines []Line) {
	for i := 0; i < len(lines); {
		c, from := lines[i].Buffer, i
		for ; i < len(lines) && lines[i].Buffer == c; i++ {
			lines[i].Buffer = nil
		}
		c.Release(i - from)
	}
}
