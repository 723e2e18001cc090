package stdin_test

import (
	"context"
	"testing"
	"time"

	"github.com/sluicehq/sluice/sources/sourcetest"
)

// contextAfterFirstLine returns a context that ends once a line is in.
func contextAfterFirstLine(t *testing.T, in *sourcetest.Intake) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(in.Lines()) == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	return ctx, cancel
}
