package unix_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/actors/sink/unix"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/modetest"
)

// inRealTime runs a case that needs the buffers of real sockets.
func inRealTime(t *testing.T, name string, run func(t *testing.T, r *receiver)) {
	t.Helper()
	modetest.Both(t, name, func(t *testing.T, m modetest.Mode) {
		t.Helper()
		if !m.Real() {
			t.Skip("buffers of sockets are real")
		}
		run(t, listen(t, m))
	})
}

func message(bodies ...string) (all []graph.Message) {
	for _, b := range bodies {
		all = append(all, graph.Message{Body: []byte(b)})
	}
	return all
}

func TestTargets(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, path, check, present string }{
		{"none", "", "a unix sink needs the path of a socket: unix:///path", ""},
		{"a relative one", "run/x.sock", "unix:///path, not unix://run/x.sock", ""},
		{"an abstract one", "@sluice", "unix:///path, not unix://@sluice", ""},
		{"one that is too long", "/" + strings.Repeat("x", 200), "bytes at most, this one has 201", ""},
		{"one that nobody made", filepath.Join(dir, "none"), "", "none: no such file or directory: the receiver has to listen before Sluice starts"},
		{"a file", file, "", "file is no socket"},
		{"a directory", dir, "", "is no socket"},
	} {
		err := unix.Check(tc.path)
		if got := fmt.Sprint(err); (tc.check == "") != (err == nil) || !strings.Contains(got, tc.check) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.check)
		}
		if tc.present == "" {
			continue
		}
		if err := unix.Present(tc.path); err == nil || !strings.HasSuffix(err.Error(), tc.present) {
			t.Errorf("%s: got %v, want one that ends with %q", tc.name, err, tc.present)
		}
		if _, err := unix.Open(t.Context(), tc.path); err == nil || !strings.HasSuffix(err.Error(), ": the receiver has to listen before Sluice starts") {
			t.Errorf("%s: got %v, want an error with a hint", tc.name, err)
		}
	}
}

func TestASocketNobodyListensOnRefusesTheStart(t *testing.T) {
	inRealTime(t, "after its receiver ended", func(t *testing.T, r *receiver) {
		t.Helper()
		if err := unix.Present(r.path); err != nil {
			t.Errorf("got %v for a socket, want none", err)
		}
		r.mu.Lock()
		r.listener.(*net.UnixListener).SetUnlinkOnClose(false)
		r.mu.Unlock()
		r.stop()
		if _, err := unix.Open(t.Context(), r.path); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("got %v, want one that says that the connection was refused", err)
		}
	})
}

func TestAReceiverThatComesBackGetsTheNextLineAtOnce(t *testing.T) {
	modetest.Both(t, "with one attempt", func(t *testing.T, m modetest.Mode) {
		t.Helper()
		r := listen(t, m)
		transport := unix.New(r.dial(t))
		defer transport.Close()
		write := func(want int, bodies ...string) error {
			t.Helper()
			n, err := transport.Write(t.Context(), message(bodies...))
			if n != want {
				t.Errorf("%q: %d confirmed (%v), want %d", bodies, n, err, want)
			}
			return err
		}
		if err := write(2, "a", "b"); err != nil {
			t.Fatal(err)
		}
		m.Until(t, func() bool { return len(r.lines()) == 2 })
		r.stop()
		r.start(t)
		if err := write(2, "c", "d"); err != nil {
			t.Errorf("got %v, want the lines on a new connection", err)
		}
		m.Until(t, func() bool { return len(r.lines()) == 4 })
		r.stop()
		before := r.dials
		if err := write(0, "e"); err == nil {
			t.Error("a receiver that is gone gives no error")
		}
		if got := r.dials - before; got != 1 {
			t.Errorf("%d connections were dialled within the attempt, want 1", got)
		}
		if err := write(0, "e"); err == nil {
			t.Error("a receiver that is still gone gives no error")
		}
		if got := r.dials - before; got != 2 {
			t.Errorf("%d connections were dialled within two attempts, want 2", got)
		}
		r.start(t)
		if err := write(1, "e"); err != nil {
			t.Errorf("got %v, want a later attempt to dial again", err)
		}
		want := []string{"a", "b", "c", "d", "e"}
		m.Until(t, func() bool { return len(r.lines()) == len(want) })
		if got := r.lines(); !slices.Equal(got, want) {
			t.Errorf("got %q, want each line once and in order: %q", got, want)
		}
	})
}

// cut is a connection that breaks after some bytes.
type cut struct {
	net.Conn
	left int
}

func (c *cut) Write(p []byte) (int, error) {
	if len(p) <= c.left {
		c.left -= len(p)
		return c.Conn.Write(p)
	}
	n, _ := c.Conn.Write(p[:c.left])
	c.left = 0
	return n, errors.New("broken pipe")
}

func TestALineThatBreaksOffFollowsWhole(t *testing.T) {
	for after := range len("one\ntwo\n") {
		modetest.Both(t, fmt.Sprintf("after %d bytes", after), func(t *testing.T, m modetest.Mode) {
			t.Helper()
			r := listen(t, m)
			dials, dial := 0, r.dial(t)
			transport := unix.New(func(ctx context.Context) (net.Conn, error) {
				conn, err := dial(ctx)
				if dials++; dials == 1 && err == nil {
					conn = &cut{conn, after}
				}
				return conn, err
			})
			var err error
			for n := 0; n < 2; { // as the sink does
				var confirmed int
				confirmed, err = transport.Write(t.Context(), message("one", "two")[n:])
				n += confirmed
			}
			if err != nil {
				t.Error(err)
			}
			if err := transport.Close(); err != nil {
				t.Error(err)
			}
			m.Until(t, func() bool { return len(r.lines()) >= 2 })
			if got := r.lines(); !slices.Equal(got, []string{"one", "two"}) {
				t.Errorf("got %q, want each line whole and once", got)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if want := "one\ntwo\n"[after/4*4 : after]; strings.Join(r.torn, "") != want {
				t.Errorf("the broken connection ends with %q, want %q", r.torn, want)
			}
		})
	}
}

func TestAReceiverThatLeavesWithinALongLine(t *testing.T) {
	inRealTime(t, "gets it whole when it is back", func(t *testing.T, r *receiver) {
		t.Helper()
		r.stop()
		l, err := net.Listen("unix", r.path)
		if err != nil {
			t.Fatal(err)
		}
		left := make(chan error, 1)
		go func() { // reads a part and leaves
			conn, err := l.Accept()
			if err == nil {
				_, err = io.ReadFull(conn, make([]byte, 1000))
				l.Close()
				r.start(t)
				conn.Close()
			}
			left <- err
		}()
		transport, err := unix.Open(t.Context(), r.path)
		if err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat("x", 8<<20)
		if n, err := transport.Write(t.Context(), message(long, "next")); n != 2 || err != nil {
			t.Errorf("%d confirmed, %v, want both", n, err)
		}
		if err := errors.Join(<-left, transport.Close()); err != nil {
			t.Error(err)
		}
		r.mode.Until(t, func() bool { return len(r.lines()) == 2 })
		if got := r.lines(); len(got) != 2 || got[0] != long || got[1] != "next" {
			t.Errorf("%d lines came, want the long one whole and the next", len(got))
		}
	})
}

func TestAReceiverThatDoesNotReadIsWaitedFor(t *testing.T) {
	modetest.Both(t, "until the end of the drain", func(t *testing.T, m modetest.Mode) {
		t.Helper()
		near, far := m.Pipe(t)
		dials := 0
		transport := unix.New(func(context.Context) (net.Conn, error) { dials++; return near, nil })
		ctx, cancel := context.WithCancel(t.Context())
		body := strings.Repeat("x", 32<<20) // more than any buffer of a socket
		type outcome struct {
			n   int
			err error
		}
		done := make(chan outcome)
		go func() {
			n, err := transport.Write(ctx, message(body))
			done <- outcome{n, err}
		}()
		if _, err := io.ReadFull(far, make([]byte, 1000)); err != nil { // it has begun
			t.Fatal(err)
		}
		cancel()
		if got := <-done; got.n != 0 || got.err == nil || dials != 1 {
			t.Errorf("%d confirmed, %v, %d connections: want none confirmed, an error and no further connection", got.n, got.err, dials)
		}
		if rest, _ := io.ReadAll(far); strings.Contains(string(rest), "\n") {
			t.Error("the line that broke off ends with a line feed")
		}
		if err := transport.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAnEndedContextHoldsForItsOwnLinesOnly(t *testing.T) {
	modetest.Both(t, "on one connection", func(t *testing.T, m modetest.Mode) {
		t.Helper()
		r := listen(t, m)
		transport := unix.New(r.dial(t))
		for i := range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			if n, err := transport.Write(ctx, message(fmt.Sprint(i))); n != 1 || err != nil {
				t.Errorf("line %d: %d confirmed, %v", i, n, err)
			}
			cancel()
		}
		m.Until(t, func() bool { return len(r.lines()) == 3 })
		if got := r.lines(); !slices.Equal(got, []string{"0", "1", "2"}) {
			t.Errorf("got %q, want each line once", got)
		}
		if err := errors.Join(transport.Close(), transport.Close()); err != nil {
			t.Errorf("got %v when it is closed twice, want nothing", err)
		}
	})
}

// sunk is a connection that takes everything.
type sunk struct{ net.Conn }

func (sunk) Write(p []byte) (int, error) { return len(p), nil }

func TestALineCostsNoMemory(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	transport := unix.New(func(context.Context) (net.Conn, error) { return sunk{near}, nil })
	defer transport.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all := message("one", "two")
	if n := testing.AllocsPerRun(100, func() { _, _ = transport.Write(ctx, all) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestWhatWasSentIsReadAfterTheEnd(t *testing.T) {
	inRealTime(t, "by a receiver that is slow", func(t *testing.T, r *receiver) {
		t.Helper()
		r.stop()
		l, err := net.Listen("unix", r.path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		transport, err := unix.Open(t.Context(), r.path)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := transport.Write(t.Context(), message("a", "b")); n != 2 || err != nil {
			t.Fatalf("%d confirmed, %v", n, err)
		}
		transport.Abandon()
		transport.Reopen()
		if err := transport.Close(); err != nil {
			t.Error(err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got, err := io.ReadAll(conn); string(got) != "a\nb\n" || err != nil {
			t.Errorf("got %q, %v, want both lines", got, err)
		}
	})
}
