package unix_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/internal/modetest"
)

// receiver takes lines from connections, one after the other. What a connection ends
// with is no line.
type receiver struct {
	path string // of the socket; empty for pipes
	mode modetest.Mode

	mu       sync.Mutex // guards the rest
	listener net.Listener
	refuses  bool
	conns    []net.Conn
	got      []string // whole lines
	torn     []string // what followed the last line of a connection
	dials    int
	ended    chan struct{} // closed when the last connection has ended; nil before the first
	reading  sync.WaitGroup
}

// listen starts a receiver. In real time it listens on a socket.
func listen(t *testing.T, m modetest.Mode) *receiver {
	t.Helper()
	r := &receiver{mode: m}
	if m.Real() {
		r.path = filepath.Join(t.TempDir(), "s")
		r.start(t)
	}
	t.Cleanup(func() {
		r.stop()
		r.reading.Wait()
	})
	return r
}

func (r *receiver) start(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuses = false
	if r.path == "" {
		return
	}
	l, err := net.Listen("unix", r.path)
	if err != nil {
		t.Fatal(err)
	}
	r.listener = l
	r.reading.Add(1)
	go func() {
		defer r.reading.Done()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.takeFrom(l, conn)
		}
	}()
}

// takeFrom reads the lines of a connection, unless its listener was stopped before it got here.
func (r *receiver) takeFrom(l net.Listener, conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener != l {
		_ = conn.Close()
		return
	}
	r.take(conn)
}

// stop ends every connection and refuses new ones.
func (r *receiver) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuses = true
	if r.listener != nil {
		_ = r.listener.Close()
		r.listener = nil
	}
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns = nil
}

// take reads the lines of a connection. The caller holds the lock.
func (r *receiver) take(conn net.Conn) {
	r.conns = append(r.conns, conn)
	r.reading.Add(1)
	before, ended := r.ended, make(chan struct{})
	r.ended = ended
	go func() {
		defer r.reading.Done()
		defer close(ended)
		if before != nil {
			<-before
		}
		for in := bufio.NewReader(conn); ; {
			line, err := in.ReadString('\n')
			r.mu.Lock()
			switch {
			case err == nil:
				r.got = append(r.got, strings.TrimSuffix(line, "\n"))
			case line != "":
				r.torn = append(r.torn, line)
			}
			r.mu.Unlock()
			if err != nil {
				_ = conn.Close()
				return
			}
		}
	}()
}

// dial connects to the receiver.
func (r *receiver) dial(t *testing.T) func(context.Context) (net.Conn, error) {
	t.Helper()
	return func(ctx context.Context) (net.Conn, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.dials++
		switch {
		case r.path != "":
			return new(net.Dialer).DialContext(ctx, "unix", r.path)
		case r.refuses:
			return nil, errors.New("connection refused")
		}
		near, far := r.mode.Pipe(t)
		r.take(far)
		return near, nil
	}
}

// connected reports whether it reads from a connection.
func (r *receiver) connected() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.conns) > 0
}

func (r *receiver) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}
