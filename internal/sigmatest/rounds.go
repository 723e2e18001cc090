package sigmatest

// Rounds is how much of something a test does: n, and a tenth of it under the race detector,
// which finds in a few rounds what it finds in many, and is slow.
func Rounds(n int) int {
	if Watched {
		return max(1, n/10)
	}
	return n
}
