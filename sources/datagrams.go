package sources

import "io"

// MaxDatagram is the size of the largest datagram of UDP.
const MaxDatagram = 65507

// DatagramReader reads datagrams, each of which is one text. Line endings and NUL at the
// end do not belong to it, and blank datagrams are passed over.
//
// It is not safe for concurrent use.
type DatagramReader struct {
	src     Datagrams
	buffers *Buffers
	scratch []byte
	sizes   []int
}

// Datagrams is a socket.
type Datagrams interface {
	// ReadMany waits for a datagram, reads it and those that are there behind it one after
	// the other into b, and appends their sizes. It stops before less than MaxDatagram
	// bytes are left of b. io.EOF is the end.
	ReadMany(b []byte, sizes []int) ([]int, error)
}

// datagramRoom is how much is read at once, and so how long lines wait for each other.
const datagramRoom = 4 * MaxDatagram

// NewDatagramReader returns a reader of the datagrams of src whose texts lie in memory of
// b's.
func (b *Buffers) NewDatagramReader(src Datagrams) *DatagramReader {
	return &DatagramReader{src: src, buffers: b, scratch: make([]byte, datagramRoom)}
}

// Next implements Reader.
func (r *DatagramReader) Next(dst []Text) ([]Text, error) {
	before := len(dst)
	for len(dst) == before {
		var err error
		r.sizes, err = r.src.ReadMany(r.scratch, r.sizes[:0])
		if err != nil {
			if err != io.EOF { //nolint:errorlint // nobody wraps it
				return dst, err
			}
			return dst, io.EOF
		}
		dst = r.take(dst)
	}
	return dst, nil
}

// Datagrams is how many datagrams the last read brought, blank ones among them.
func (r *DatagramReader) Datagrams() int { return len(r.sizes) }

// Close implements Reader.
func (r *DatagramReader) Close() {}

// take copies the datagrams to memory that is not larger than they need, piece by piece.
func (r *DatagramReader) take(dst []Text) []Text {
	for at, i := 0, 0; i < len(r.sizes); {
		size, n := 0, 0 // of as many as one piece of memory holds
		for n == 0 || i+n < len(r.sizes) && size+r.sizes[i+n] <= chunkSize {
			size += r.sizes[i+n]
			n++
		}
		if size > 0 {
			dst = r.piece(dst, r.scratch[at:at+size], r.sizes[i:i+n])
		}
		at += size
		i += n
	}
	return dst
}

func (r *DatagramReader) piece(dst []Text, b []byte, sizes []int) []Text {
	before := len(dst)
	lent, memory := r.buffers.get(len(b))
	memory = append(memory, b...)
	p := portion{buffer: lent, memory: memory, size: len(b)}
	p.measure()
	for _, n := range sizes {
		message := trimEnd(memory[:n:n])
		memory = memory[n:]
		if !Blank(message) {
			dst = append(dst, Text{Bytes: message})
			p.keep(&dst[len(dst)-1])
		}
	}
	lent.Retain(len(dst) - before)
	lent.Release(1)
	return dst
}
