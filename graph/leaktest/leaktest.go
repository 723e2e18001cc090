// Package leaktest fails a package's tests that leave goroutines behind.
package leaktest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is for goroutines that end by themselves a while after the test that
// started them: an HTTP connection lingers for half a second before it closes, and
// everything takes longer on a machine that is busy.
const patience = time.Minute

// Main runs the tests of m, and exits. It is the body of a package's TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := wait(patience); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// wait returns nil as soon as no goroutine is left but the caller's and those of
// the test runner, an error with their stacks when some still are after limit.
func wait(limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; {
		err := goleak.Find()
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
