package sourcetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sources"
)

// Harness makes a source under test.
type Harness struct {
	// New returns a source that has the given lines to offer and then either
	// ends, when it is finite, or stays idle. What it is connected by comes from the
	// mode.
	New func(t *testing.T, m modetest.Mode, lines []string) sources.Source
	// Finite says that the source ends behind its last line.
	Finite bool
	// Settled returns how often each line of the source made last was settled
	// towards the origin. Nil for sources that need no acknowledgement.
	Settled func() []int
}

// Contract checks what every source promises: order, waiting for room without
// losing a line, an end soon after it was asked for, and every line settled once.
// Each case runs in virtual time, in which the source must be able to run, and in
// real time with real sockets.
func Contract(t *testing.T, h Harness) {
	t.Helper()
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"n":%d}`, i)
	}
	modetest.Both(t, "lines arrive in order", func(t *testing.T, m modetest.Mode) {
		t.Helper()
		in := NewIntake(1000)
		end := run(t, m, h.New(t, m, lines), in)
		m.Until(t, func() bool { return len(in.Lines()) == len(lines) })
		wantLines(t, in, lines)
		settle(in)
		end(h.Finite)
		wantSettled(t, h, len(lines), 1)
	})
	modetest.Both(t, "a full queue makes it wait and loses nothing", func(t *testing.T, m modetest.Mode) {
		t.Helper()
		in := NewIntake(100)
		end := run(t, m, h.New(t, m, lines), in)
		m.Until(t, func() bool { return in.Waited() > 0 && len(in.Lines()) == 100 })
		wantLines(t, in, lines[:100])
		if in.Waited() == 0 {
			t.Error("the source did not wait")
		}
		for n := 200; n <= 300; n += 100 {
			settle(in)
			m.Until(t, func() bool { return len(in.Lines()) == n })
		}
		wantLines(t, in, lines)
		settle(in)
		end(h.Finite)
		wantSettled(t, h, len(lines), 1)
	})
	modetest.Both(t, "asked to stop while it waits for room, it stops and hands over no more", func(t *testing.T, m modetest.Mode) {
		t.Helper()
		in := NewIntake(100)
		end := run(t, m, h.New(t, m, lines), in)
		m.Until(t, func() bool { return in.Waited() > 0 && len(in.Lines()) == 100 })
		end(false)
		settle(in)
		wantLines(t, in, lines[:100])
		wantSettled(t, h, len(lines), 0)
	})
	modetest.Both(t, "it stops when the intake refuses", func(t *testing.T, m modetest.Mode) {
		t.Helper()
		in := NewIntake(100)
		end := run(t, m, h.New(t, m, lines), in)
		m.Until(t, func() bool { return in.Waited() > 0 && len(in.Lines()) == 100 })
		in.Close()
		end(true)
		wantLines(t, in, lines[:100])
	})
}

// run starts src. The returned function ends it, waiting for it to end by itself
// when it should, and has it acknowledge what is due.
func run(t *testing.T, m modetest.Mode, src sources.Source, in *Intake) (end func(byItself bool)) {
	t.Helper()
	soon := time.Second
	if m.Real() {
		soon = time.Minute // a machine may stand still
	}
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
		case <-time.After(soon):
			t.Errorf("the source goes on %s after it should have ended", soon)
		}
		cancel()
		if r, ok := src.(sources.Redelivering); ok {
			late, done := context.WithTimeout(context.Background(), soon)
			defer done()
			if err := r.Close(late); err != nil {
				t.Errorf("close: %v", err)
			}
		}
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

func wantSettled(t *testing.T, h Harness, lines, times int) {
	t.Helper()
	if h.Settled != nil {
		wantAll(t, "settled", h.Settled(), lines, times)
	}
}

func wantAll(t *testing.T, what string, got []int, lines, times int) {
	t.Helper()
	if len(got) != lines {
		t.Fatalf("%d lines were %s, want %d", len(got), what, lines)
	}
	for i, n := range got {
		if n != times {
			t.Errorf("line %d was %s %d times, want %d", i, what, n, times)
		}
	}
}
