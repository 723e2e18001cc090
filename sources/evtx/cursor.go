package evtx

import "encoding/binary"

// cursor reads numbers off a chunk, little end first. A read beyond its end yields zero and
// leaves the cursor short.
type cursor struct {
	data  []byte // the chunk
	pos   int
	end   int
	short bool
}

// take passes over n bytes and returns where they begin.
func (c *cursor) take(n int) int {
	if n < 0 || n > c.end-c.pos {
		c.short = true
		c.pos = c.end
		return c.end
	}
	at := c.pos
	c.pos += n
	return at
}

func (c *cursor) u8() uint8 {
	at := c.take(1)
	if c.short {
		return 0
	}
	return c.data[at]
}

func (c *cursor) u16() uint16 {
	at := c.take(2)
	if c.short {
		return 0
	}
	return binary.LittleEndian.Uint16(c.data[at:])
}

func (c *cursor) u32() uint32 {
	at := c.take(4)
	if c.short {
		return 0
	}
	return binary.LittleEndian.Uint32(c.data[at:])
}
