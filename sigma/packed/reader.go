package packed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrDamaged is wrapped by errors about bytes that cannot have been written.
var ErrDamaged = errors.New("packed data is damaged")

// Reader takes values off the front of packed data, for types that say
// themselves how they are written. After a failure it gives zeros to the end, so
// one look at End is enough.
type Reader struct {
	rest string
	bad  bool
}

// NewReader reads data, whose memory the texts it gives share.
func NewReader(data string) *Reader { return &Reader{rest: data} }

// Fail notes that a value is not one that can have been written.
func (r *Reader) Fail() { r.bad = true }

// End returns an error that wraps ErrDamaged unless everything was as it should
// be and nothing is left.
func (r *Reader) End() error {
	switch {
	case r.bad:
		return fmt.Errorf("%w: %d bytes before its end", ErrDamaged, len(r.rest))
	case r.rest != "":
		return fmt.Errorf("%w: %d bytes too many", ErrDamaged, len(r.rest))
	}
	return nil
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if r.bad = r.bad || r.rest == ""; r.bad {
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// Bool reads what AppendBool wrote.
func (r *Reader) Bool() bool { return r.Byte() == 1 }

// Uint reads what binary.AppendUvarint wrote.
func (r *Reader) Uint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 && !r.bad { // the fast path
		n := uint64(r.rest[0])
		r.rest = r.rest[1:]
		return n
	}
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		b := r.Byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	r.Fail()
	return 0
}

// Int reads what binary.AppendVarint wrote.
func (r *Reader) Int() int64 {
	u := r.Uint()
	return int64(u>>1) ^ -int64(u&1)
}

// Fixed reads eight bytes, little end first.
func (r *Reader) Fixed() uint64 {
	if r.bad = r.bad || len(r.rest) < 8; r.bad {
		return 0
	}
	n := binary.LittleEndian.Uint64([]byte(r.rest[:8]))
	r.rest = r.rest[8:]
	return n
}

// Float reads a number of the same size.
func (r *Reader) Float() float64 { return math.Float64frombits(r.Fixed()) }

// Text reads what AppendText wrote.
func (r *Reader) Text() string { return r.take(int(min(r.Uint(), math.MaxInt))) }

// take reads some bytes as they are.
func (r *Reader) take(n int) string {
	if r.bad = r.bad || n > len(r.rest); r.bad {
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

// length reads the length of what may be nil.
func (r *Reader) length() (n int, isNil bool) {
	u := r.Uint()
	if r.bad = r.bad || u > uint64(len(r.rest))+1; r.bad || u == 0 {
		return 0, true
	}
	return int(u - 1), false
}
