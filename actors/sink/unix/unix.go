// Package unix sends messages as lines to a stream socket of this machine, on which a
// receiver listens.
//
// A receiver gets each line whole and once. A connection that breaks within a line ends
// with the part of it that was sent, without a line feed; the whole line follows on the
// next connection. What the receiver had not read when it went is lost with it, as the
// socket confirms nothing.
package unix

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sluicehq/sluice/graph"
)

// Transport sends to one socket. It belongs to one sink.
type Transport struct {
	dial func(context.Context) (net.Conn, error)
	conn net.Conn // nil after a failure
	line []byte

	// The end of ctx interrupts conn, until release is called.
	ctx     context.Context
	release func() bool
}

// maxPath is the longest path of a socket.
const maxPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// Check reports a target that is no path of a socket.
func Check(path string) error {
	switch {
	case path == "":
		return errors.New("a unix sink needs the path of a socket: unix:///path")
	case !filepath.IsAbs(path):
		return fmt.Errorf("the path of a socket is absolute: unix:///path, not unix://%s", path)
	case len(path) > maxPath:
		return fmt.Errorf("the path of a socket has %d bytes at most, this one has %d", maxPath, len(path))
	}
	return nil
}

// Present reports a path at which there is no socket. It does not connect.
func Present(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %s", err, hint)
	case info.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("%s is no socket", path)
	}
	return nil
}

const hint = "the receiver has to listen before Sluice starts"

// Open connects to the socket at path.
func Open(ctx context.Context, path string) (*Transport, error) {
	t := New(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	})
	if err := t.connect(ctx); err != nil {
		return nil, fmt.Errorf("%w: %s", err, hint)
	}
	return t, nil
}

// New returns a transport to what dial connects to. It connects when it has something to
// send.
func New(dial func(context.Context) (net.Conn, error)) *Transport { return &Transport{dial: dial} }

func (t *Transport) connect(ctx context.Context) (err error) {
	t.conn, err = t.dial(ctx)
	if err != nil {
		t.conn = nil
	}
	return err
}

// keptLine bounds the memory that is kept for the next line.
const keptLine = 256 << 10

// Write sends each message as a line and returns how many the socket took whole.
func (t *Transport) Write(ctx context.Context, messages []graph.Message) (int, error) {
	for i := range messages {
		t.line = append(append(t.line[:0], messages[i].Body...), '\n')
		err := t.send(ctx)
		if cap(t.line) > keptLine {
			t.line = nil
		}
		if err != nil {
			return i, err
		}
	}
	return len(messages), nil
}

// send writes the line. When the connection fails, the line goes whole to another one,
// which is dialled once.
func (t *Transport) send(ctx context.Context) error {
	if t.conn != nil {
		if err := t.write(ctx); err == nil || ctx.Err() != nil {
			return err
		}
	}
	if err := t.connect(ctx); err != nil {
		return err
	}
	return t.write(ctx)
}

// write gives the line to the connection. It waits for a receiver that does not read,
// until the end of ctx. After an error nobody goes on in the middle of the line: the
// connection is dropped.
func (t *Transport) write(ctx context.Context) error {
	t.heed(ctx)
	_, err := t.conn.Write(t.line)
	if err != nil {
		_ = t.drop()
	}
	return err
}

// heed has the end of ctx interrupt the connection. A sink writes in one context all its
// life, so this is done once for a connection.
func (t *Transport) heed(ctx context.Context) {
	if t.ctx == ctx {
		return
	}
	if t.ctx != nil {
		t.release()
		_ = t.conn.SetWriteDeadline(time.Time{})
	}
	conn := t.conn
	t.ctx, t.release = ctx, context.AfterFunc(ctx, func() { _ = conn.SetWriteDeadline(time.Unix(1, 0)) })
}

// drop ends the connection, if there is one.
func (t *Transport) drop() error {
	if t.ctx != nil {
		t.release()
		t.ctx, t.release = nil, nil
	}
	if t.conn == nil {
		return nil
	}
	conn := t.conn
	t.conn = nil
	return conn.Close()
}

// Abandon has nothing to do: a line that broke off has ended with its connection.
func (t *Transport) Abandon() {}

// Reopen has nothing to do: a receiver that goes ends the connection.
func (t *Transport) Reopen() {}

// Close ends the connection. The receiver can still read what was sent.
func (t *Transport) Close() error { return t.drop() }
