package graph

import "sync/atomic"

// Chunk is memory that many lines lie in. Each of them has a share of it, and
// when the last share has been given back the chunk returns to whoever made it,
// to be written again. A share that is never given back only costs the reuse.
type Chunk struct {
	Bytes  []byte
	shares atomic.Int64
	spent  func(*Chunk)
}

// NewChunk returns a chunk with one share, the caller's. spent is called each
// time the last share has come back, from whichever goroutine gave it.
func NewChunk(bytes []byte, spent func(*Chunk)) *Chunk {
	c := &Chunk{Bytes: bytes, spent: spent}
	c.shares.Store(1)
	return c
}

// Share adds n shares. The caller has one, or is the maker of a spent chunk.
func (c *Chunk) Share(n int) {
	if c != nil {
		c.shares.Add(int64(n))
	}
}

// Leave gives n shares back. The memory is not the caller's any more.
func (c *Chunk) Leave(n int) {
	if c == nil || n == 0 || c.shares.Add(int64(-n)) != 0 {
		return
	}
	if scribbles {
		scribble(c.Bytes[:cap(c.Bytes)])
	}
	c.spent(c)
}

// scribble makes memory that was given back useless, so that a test under the
// race detector sees whoever still reads it.
func scribble(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}

// LeaveLines gives the shares of lines back, whose texts are needed no longer.
func LeaveLines(lines []Line) {
	for i := 0; i < len(lines); {
		c, from := lines[i].Chunk, i
		for ; i < len(lines) && lines[i].Chunk == c; i++ {
			lines[i].Chunk = nil
		}
		c.Leave(i - from)
	}
}
