package sources

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
)

// maxPadding is how many zero bytes may stand behind the last member of a gzip stream, as
// tapes and blocks leave them.
const maxPadding = 1 << 20

// members reads the members of a gzip stream (RFC 1952) one after the other. What a member
// holds is handed over when it is there: nobody waits for the next one.
type members struct {
	src  *bufio.Reader
	z    *gzip.Reader
	over bool // the member has ended
}

// NewGzipReader returns a reader of what src holds, whatever number of members it has. The
// error is io.EOF when src is empty.
func NewGzipReader(src io.Reader) (io.Reader, error) {
	in := bufio.NewReader(src)
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{src: in, z: z}, nil
}

// Read implements io.Reader.
func (m *members) Read(p []byte) (int, error) {
	for {
		if m.over {
			if err := m.next(); err != nil {
				return 0, err
			}
		}
		n, err := m.z.Read(p)
		if m.over = err == io.EOF; !m.over { //nolint:errorlint // bare, as readers return it
			return n, err
		}
		if n > 0 {
			return n, nil
		}
	}
}

// next begins the next member. Behind the last one the error is io.EOF.
func (m *members) next() error {
	for padding := 0; ; padding++ {
		c, err := m.src.ReadByte()
		if err != nil {
			return err
		}
		if c == 0 && padding < maxPadding {
			continue
		}
		if padding > 0 {
			return gzip.ErrHeader
		}
		break
	}
	if err := m.src.UnreadByte(); err != nil {
		return err
	}
	err := m.z.Reset(m.src)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	m.z.Multistream(false)
	m.over = false
	return err
}
