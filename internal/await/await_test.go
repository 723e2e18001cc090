package await_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/internal/await"
)

func TestWhatHasEndedIsNeverLate(t *testing.T) {
	for _, tc := range []struct {
		name       string
		end, limit time.Duration
		moment     time.Duration
		want       bool
		waited     time.Duration
	}{
		{"the end comes before the limit", time.Second, 2 * time.Second, 0, true, time.Second},
		{"the limit comes before the end", 2 * time.Second, time.Second, 0, false, time.Second},
		{"the end and the limit are both there", 0, 0, 0, true, 0},
		{"the end comes within the moment", 1500 * time.Millisecond, time.Second, time.Second, true, 1500 * time.Millisecond},
		{"the end comes behind the moment", 3 * time.Second, time.Second, time.Second, false, 2 * time.Second},
		{"the end and the limit are both there, with a moment left", 0, 0, time.Second, true, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range 100 { // a select takes either
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), tc.limit)
					defer cancel()
					done := make(chan struct{})
					if tc.end == 0 {
						close(done)
					} else {
						time.AfterFunc(tc.end, func() { close(done) })
					}
					begun := time.Now()
					if got := await.Done(ctx, done, tc.moment); got != tc.want || time.Since(begun) != tc.waited {
						t.Fatalf("got %v behind %s, want %v behind %s", got, time.Since(begun), tc.want, tc.waited)
					}
					synctest.Wait()
					time.Sleep(time.Minute) // what is left of the end
				})
			}
		})
	}
}
