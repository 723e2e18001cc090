package accept

import (
	"errors"
	"io"
	"net"
	"os"

	"github.com/sluicehq/sluice/sources"
)

// stream is a connection that can be waited for without memory to read into.
type stream interface {
	sources.Pausing
	wait() // until Ready
}

// newStream returns the stream of a connection.
func newStream(c net.Conn) stream {
	if s := systemStream(c); s != nil {
		return s
	}
	return &ahead{Conn: c}
}

// ahead reads a little before there is memory for more. It serves connections that are not
// the system's own, such as those of TLS.
type ahead struct {
	net.Conn
	small [aheadBytes]byte
	held  []byte // of small
	more  bool   // small was full: more is there
	err   error  // that came with held
}

const aheadBytes = 512

// Ready implements sources.Pausing.
func (a *ahead) Ready() bool { return len(a.held) > 0 || a.more || a.err != nil }

func (a *ahead) wait() {
	for range maxEmpty {
		n, err := a.Conn.Read(a.small[:])
		a.held, a.err = a.small[:n], ending(err)
		if a.more = n == len(a.small); a.Ready() {
			return
		}
	}
	a.err = io.ErrNoProgress
}

// maxEmpty is how many reads in a row may bring nothing.
const maxEmpty = 100

// Read implements io.Reader. It is called when the stream is ready.
func (a *ahead) Read(p []byte) (int, error) {
	if len(a.held) > 0 {
		n := copy(p, a.held)
		a.held = a.held[n:]
		return n, nil
	}
	if a.err != nil {
		return 0, a.err
	}
	n, err := a.Conn.Read(p)
	a.more = n == len(p)
	return n, ending(err)
}

// ending makes the end of the stream of a deadline: what has come until then counts.
func ending(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return io.EOF
	}
	return err
}
