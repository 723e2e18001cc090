package acceptance

import "testing"

// plainly skips a test under the race detector: nothing runs beside anything in it that other
// tests do not run, too.
func plainly(t *testing.T) {
	t.Helper()
	if watched {
		t.Skip("nothing runs here that is not watched elsewhere; the tests without a detector run it")
	}
}
