package command

import (
	"testing"
	"time"
)

// SetGrace changes how long descendants may hold the pipes, for one test that runs alone.
func SetGrace(t *testing.T, d time.Duration) {
	t.Helper()
	before := grace
	grace = d
	t.Cleanup(func() { grace = before })
}
