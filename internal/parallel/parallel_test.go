package parallel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

func TestEveryNumberIsDoneOnce(t *testing.T) {
	for _, n := range []int{0, 1, 1000} {
		done := make([]atomic.Int32, n)
		if err := For(t.Context(), n, func(i int) { done[i].Add(1) }); err != nil {
			t.Fatal(err)
		}
		for i := range done {
			if got := done[i].Load(); got != 1 {
				t.Errorf("%d of %d was done %d times", i, n, got)
			}
		}
	}
}

func TestTheEndOfTheContextEndsTheWork(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var done atomic.Int32
	err := For(ctx, 1000, func(int) {
		done.Add(1)
		cancel()
	})
	if !errors.Is(err, context.Canceled) || done.Load() > 100 {
		t.Errorf("%v after %d calls, want the end of the context after a few", err, done.Load())
	}
}

func TestAPanicIsOneOfTheCaller(t *testing.T) {
	defer func() {
		if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "seven") || !strings.Contains(p, "parallel_test.go") {
			t.Errorf("recovered %q, want what do panicked with and its stack", p)
		}
	}()
	_ = For(t.Context(), 1000, func(i int) {
		if i == 7 {
			panic("seven")
		}
	})
	t.Error("there was no panic")
}
