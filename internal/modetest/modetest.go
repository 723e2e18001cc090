// Package modetest runs a test in two modes: in a bubble of virtual time, with
// connections in memory, and in real time with real ones.
package modetest

import (
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// Mode is how a case runs. The zero value is virtual time.
type Mode struct{ real bool }

// Real reports whether time, files and connections are real.
func (m Mode) Real() bool { return m.real }

// Both runs a case in virtual and in real time.
func Both(t *testing.T, name string, run func(t *testing.T, m Mode)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Run("in virtual time", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { run(t, Mode{}) })
		})
		t.Run("in real time", func(t *testing.T) { run(t, Mode{real: true}) })
	})
}

// Cases are cases that share nothing, so that in real time, where they mostly wait, they
// wait beside each other.
type Cases []oneCase

type oneCase struct {
	name string
	run  func(t *testing.T, m Mode)
}

// Add adds a case.
func (c *Cases) Add(name string, run func(t *testing.T, m Mode)) { *c = append(*c, oneCase{name, run}) }

// Run runs all of them in virtual time, one after another, and then in real time.
func (c Cases) Run(t *testing.T) {
	t.Helper()
	t.Run("in virtual time", func(t *testing.T) {
		for _, one := range c {
			t.Run(one.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { one.run(t, Mode{}) })
			})
		}
	})
	t.Run("in real time", func(t *testing.T) {
		for _, one := range c {
			t.Run(one.name, func(t *testing.T) {
				t.Parallel()
				one.run(t, Mode{real: true})
			})
		}
	})
}

// Until waits until done reports true, for at least a minute. In virtual time it
// first waits for everything to come to rest.
func (m Mode) Until(t *testing.T, done func() bool) {
	t.Helper()
	for range 60_000 {
		if !m.real {
			synctest.Wait()
		}
		if done() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("nothing comes any more")
}

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
