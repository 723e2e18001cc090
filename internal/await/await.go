// Package await waits for an end that has a limit of time.
package await

import (
	"context"
	"time"
)

// Done waits for done until ctx ends, and for as long as moment behind it: a process that
// stood still has used up time that others did not have. It reports whether done is closed.
// What has ended is never late, even when the time is over as well.
func Done(ctx context.Context, done <-chan struct{}, moment time.Duration) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	if moment > 0 {
		timer := time.NewTimer(moment)
		defer timer.Stop()
		select {
		case <-done:
			return true
		case <-timer.C:
		}
	}
	return Closed(done)
}

// Closed reports whether done is closed at this moment.
func Closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
