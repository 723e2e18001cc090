package sourcetest

import (
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// Mode is what a case of the contract runs in: a bubble of virtual time with pipes
// in memory, or real time with real sockets.
type Mode struct{ real bool }

// Pipe returns the two ends of a connection that is closed when the test ends.
func (m Mode) Pipe(t *testing.T) (near, far net.Conn) {
	t.Helper()
	if !m.real {
		near, far = net.Pipe()
	} else {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if near, err = net.Dial("tcp", l.Addr().String()); err != nil {
			t.Fatal(err)
		}
		if far, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		_ = near.Close()
		_ = far.Close()
	})
	return near, far
}

// until returns when done reports true. In virtual time it only waits for
// everything to come to rest.
func (m Mode) until(t *testing.T, done func() bool) {
	t.Helper()
	if !m.real {
		synctest.Wait()
		return
	}
	for begin := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatal("nothing comes any more")
		}
	}
}

// bothModes runs a case in virtual and in real time.
func bothModes(t *testing.T, name string, run func(t *testing.T, m Mode)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Run("in virtual time", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { run(t, Mode{}) })
		})
		t.Run("in real time", func(t *testing.T) { run(t, Mode{real: true}) })
	})
}
