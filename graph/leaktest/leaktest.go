// Package leaktest fails a package's tests that leave goroutines behind.
package leaktest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// patience is for goroutines that end by themselves a while after the test that
// started them: an HTTP connection lingers for half a second before it closes, and
// everything takes longer on a machine that is busy. It is counted in looks, of which
// each takes half a second: a machine that stands still ends nothing meanwhile.
const patience = 120

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
// the test runner, an error with their stacks when some still are at the last look.
func wait(looks int) (err error) {
	for range looks {
		if err = goleak.Find(); err == nil {
			return nil
		}
	}
	return err
}
