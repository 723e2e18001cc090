package accept

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

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
	more  bool   // the last read was full: there may be more at once
	err   error  // behind held
}

const aheadBytes = 512

// moment is how long is looked for what came together with what was read.
const moment = time.Millisecond

// Ready implements sources.Pausing. Behind a full read it looks: only what is there counts.
func (a *ahead) Ready() bool {
	if a.ready() {
		return true
	}
	if a.more {
		n, err := a.look(a.small[:])
		a.hold(n, err)
	}
	return a.ready()
}

func (a *ahead) ready() bool { return len(a.held) > 0 || a.err != nil }

// hold keeps what was read into small.
func (a *ahead) hold(n int, err error) {
	a.held, a.err, a.more = a.small[:n], err, n == len(a.small)
}

func (a *ahead) wait() {
	for range maxEmpty {
		n, err := a.Conn.Read(a.small[:])
		if a.hold(n, ending(err)); a.ready() {
			return
		}
	}
	a.err = io.ErrNoProgress
}

// maxEmpty is how many reads in a row may bring nothing.
const maxEmpty = 100

// Read implements io.Reader. It is called when the stream is ready.
func (a *ahead) Read(p []byte) (int, error) {
	if len(a.held) == 0 {
		return 0, a.err
	}
	n := copy(p, a.held)
	a.held = a.held[n:]
	if n < len(p) && a.more {
		m, err := a.look(p[n:])
		n += m
		a.err, a.more = err, n == len(p)
	}
	return n, nil
}

// look reads what is there and does not wait for what is not. A wait has a deadline where
// a text must not pause, and a read outside of it would have none.
func (a *ahead) look(p []byte) (int, error) {
	_ = a.SetReadDeadline(time.Now().Add(moment)) // fails with the read
	n, err := a.Conn.Read(p)
	_ = a.SetReadDeadline(time.Time{})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return n, err
}

// ending makes the end of the stream of a deadline: what has come until then counts.
func ending(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return io.EOF
	}
	return err
}
