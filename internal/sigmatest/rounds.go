package sigmatest

import "testing"

// Rounds is how much of something a test does: n, and a tenth of it under the race detector,
// which finds in a few rounds what it finds in many, and is slow.
func Rounds(n int) int {
	if Watched {
		return max(1, n/10)
	}
	return n
}

// Plainly skips a test under the race detector, where it is slow for nothing: one goroutine
// does it all, and counts as many steps or bytes as in a plain run.
func Plainly(tb testing.TB) {
	tb.Helper()
	if Watched {
		tb.Skip("one goroutine counts what it does; plain runs have it")
	}
}
