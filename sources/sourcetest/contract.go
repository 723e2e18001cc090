package sourcetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/sources"
)

// Harness makes a source under test.
type Harness struct {
	// New returns a source that has the given lines to offer and then either
	// ends, when it is finite, or stays idle.
	New func(t *testing.T, lines []string) sources.Source
	// Finite says that the source ends behind its last line.
	Finite bool
	// Settled returns how often each line was settled towards the origin. Nil
	// for sources that need no acknowledgement.
	Settled func() []int
}

// Contract checks what every source promises: order, waiting for room without
// losing a line, an end soon after it was asked for, and every line settled once.
// The source must be able to run in a bubble of virtual time.
func Contract(t *testing.T, h Harness) {
	t.Helper()
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"n":%d}`, i)
	}
	t.Run("lines arrive in order", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := NewIntake(1000)
			end := run(t, h.New(t, lines), in)
			synctest.Wait()
			wantLines(t, in, lines)
			settle(in)
			end(h.Finite)
			wantSettled(t, h, len(lines))
		})
	})
	t.Run("a full queue makes it wait and loses nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := NewIntake(100)
			end := run(t, h.New(t, lines), in)
			synctest.Wait()
			wantLines(t, in, lines[:100])
			if in.Waited() == 0 {
				t.Error("the source did not wait")
			}
			for range 3 {
				settle(in)
				synctest.Wait()
			}
			wantLines(t, in, lines)
			settle(in)
			end(h.Finite)
			wantSettled(t, h, len(lines))
		})
	})
	t.Run("asked to stop while it waits for room, it stops and hands over no more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := NewIntake(100)
			end := run(t, h.New(t, lines), in)
			synctest.Wait()
			end(false)
			settle(in)
			synctest.Wait()
			wantLines(t, in, lines[:100])
		})
	})
	t.Run("it stops when the intake refuses", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in := NewIntake(100)
			end := run(t, h.New(t, lines), in)
			synctest.Wait()
			in.Close()
			end(true)
			wantLines(t, in, lines[:100])
		})
	})
}

// run starts src. The returned function ends it, waiting for it to end by itself
// when it should.
func run(t *testing.T, src sources.Source, in *Intake) (end func(byItself bool)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- src.Run(ctx, in) }()
	return func(byItself bool) {
		t.Helper()
		if !byItself {
			cancel()
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the source ended with %v, want no error", err)
			}
		case <-time.After(time.Second):
			t.Error("the source goes on a second after it should have ended")
		}
		cancel()
	}
}

func settle(in *Intake) {
	for _, l := range in.Take() {
		l.Token.Settle()
	}
}

func wantLines(t *testing.T, in *Intake, want []string) {
	t.Helper()
	if got := in.Lines(); !slices.Equal(got, want) {
		t.Errorf("%d lines were admitted, want %d in order", len(got), len(want))
	}
}

func wantSettled(t *testing.T, h Harness, lines int) {
	t.Helper()
	if h.Settled == nil {
		return
	}
	got := h.Settled()
	if len(got) != lines {
		t.Fatalf("%d lines have tokens, want %d", len(got), lines)
	}
	for i, n := range got {
		if n != 1 {
			t.Errorf("line %d was settled %d times, want once", i, n)
		}
	}
}
