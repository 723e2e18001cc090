package sinktest

import (
	"testing"
	"testing/synctest"
	"time"
)

// Mode is how a case runs: in virtual time, or in real time with real files and
// sockets.
type Mode struct{ real bool }

// Real reports whether the destination is to be a real one.
func (m Mode) Real() bool { return m.real }

// until waits until done reports true, and in virtual time for everything to come
// to rest.
func (m Mode) until(t *testing.T, done func() bool) {
	t.Helper()
	for begin := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Error("nothing comes any more")
			return
		}
	}
	if !m.real {
		synctest.Wait()
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
