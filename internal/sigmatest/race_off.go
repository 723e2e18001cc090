//go:build !race

package sigmatest

// Watched says that the race detector runs.
const Watched = false
