// Package parallel spreads work over all cores.
package parallel

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// For calls do for every number below n, in any order and on all cores, and
// returns when all calls have. It stops when ctx ends, which is looked at before
// each call, and returns the error of ctx. A panic of do ends it as well and
// becomes a panic of the caller, with the stack of the first in its text.
func For(ctx context.Context, n int, do func(i int)) error {
	var next atomic.Int64
	var failure atomic.Pointer[string]
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					text := fmt.Sprintf("%v\n\n%s", p, debug.Stack())
					failure.CompareAndSwap(nil, &text)
				}
			}()
			for failure.Load() == nil && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	workers.Wait()
	if text := failure.Load(); text != nil {
		panic(*text)
	}
	return ctx.Err()
}
