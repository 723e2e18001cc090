package sourcetest

import (
	"slices"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/state"
)

// Origin is a stream of messages, one a line, that delivers a message again until
// its consumer acknowledges it.
type Origin interface {
	// Connect returns a source of what is not acknowledged. The one before gets and
	// acknowledges nothing any more.
	Connect(t *testing.T, snapshot bool) sources.Redelivering
	Acks() []int       // of each message
	Deliveries() []int // of each message
}

// RedeliveryHarness makes origins under test.
type RedeliveryHarness struct {
	// New returns an origin that holds the lines and delivers them all without
	// waiting for acknowledgements. Origins share nothing: there are several at once.
	New func(t *testing.T, m modetest.Mode, lines []string) Origin
	// Ordered says that the origin knows only up to which message everything is
	// acknowledged.
	Ordered bool
	// AckWait is how long the origin waits for an acknowledgement or a sign of
	// progress before it delivers a message again.
	AckWait time.Duration
}

// Redelivery checks what every source promises whose origin delivers again. It
// stands beside Contract.
func Redelivery(t *testing.T, h RedeliveryHarness) {
	t.Helper()
	lines := []string{"a", "b", "c", "d", "e", "f"}
	begin := func(t *testing.T, m modetest.Mode, o Origin, snapshot bool, want int, restored *state.Head) (sources.Positions, *Intake, func(bool)) {
		t.Helper()
		in, src := NewIntake(100), o.Connect(t, snapshot)
		if restored != nil {
			src.Positions().Restore(restored.Positions(), restored.Covered)
		}
		end := run(t, m, src, in)
		m.Until(t, func() bool { return len(in.Lines()) == want })
		return src.Positions(), in, end
	}
	acks := func(o Origin) (n int) {
		for _, a := range o.Acks() {
			n += a
		}
		return n
	}
	var cases modetest.Cases
	cases.Add("each line is acknowledged when it ends, whatever became of the others", func(t *testing.T, m modetest.Mode) {
		t.Helper()
		o := h.New(t, m, lines)
		_, in, end := begin(t, m, o, false, 6, nil)
		got := in.Take()
		var last uint64
		for i, l := range got {
			p, ok := l.Token.Position()
			if !ok || p.Sequence <= last || p.Time == 0 {
				t.Errorf("line %d has position %+v, %v, want one behind %d with a time", i, p, ok, last)
			}
			last = p.Sequence
		}
		want, left := []int{0, 1, 0, 0, 1, 0}, []string{"a", "c", "d", "f"}
		got[4].Token.Settle()
		got[1].Token.Settle()
		if h.Ordered {
			want, left = []int{1, 1, 0, 0, 0, 0}, []string{"c", "d", "e", "f"}
			got[0].Token.Settle()
		}
		m.Until(t, func() bool { return acks(o) == 2 })
		end(false)
		if got := o.Acks(); !slices.Equal(got, want) {
			t.Errorf("acknowledged %v, want %v", got, want)
		}
		_, in, end = begin(t, m, o, false, 4, nil)
		wantLines(t, in, left)
		settle(in)
		end(false)
		wantAll(t, "acknowledged", o.Acks(), 6, 1)
	})
	cases.Add("in snapshot mode a line is acknowledged by the save whose barrier lies behind it", func(t *testing.T, m modetest.Mode) {
		t.Helper()
		o := h.New(t, m, lines)
		positions, in, end := begin(t, m, o, true, 6, nil)
		got := in.Take()
		for i := range got {
			got[i].Token = got[i].Token.In(epochs(t, i/3))
		}
		for _, l := range got[:5] {
			l.Token.Settle()
		}
		m.Until(t, func() bool { return true })
		wantAll(t, "acknowledged", o.Acks(), 6, 0)
		positions.Saved(1)
		m.Until(t, func() bool { return acks(o) == 3 })
		if got, want := o.Acks(), []int{1, 1, 1, 0, 0, 0}; !slices.Equal(got, want) {
			t.Errorf("acknowledged %v, want %v", got, want)
		}
		if n := positions.Unreleased(); n != 1 {
			t.Errorf("%d lines are unreleased, want the last one", n)
		}
		got[5].Token.Settle()
		positions.Saved(sources.Final)
		end(false)
		wantAll(t, "acknowledged", o.Acks(), 6, 1)
	})
	cases.Add("what a restored state covers is acknowledged and not put in again", func(t *testing.T, m modetest.Mode) {
		t.Helper()
		o := h.New(t, m, lines)
		positions, in, end := begin(t, m, o, true, 6, nil)
		got := in.Take()
		for i := range got {
			got[i].Token = got[i].Token.In(epochs(t, i/3))
			got[i].Token.Settle()
		}
		var head state.Head // of a save whose acknowledgements never leave
		var cut []state.Position
		cut, head.Covered = positions.Cover(1)
		head.Position = &cut[0]
		end(false)
		_, in, end = begin(t, m, o, true, 3, &head)
		wantLines(t, in, []string{"d", "e", "f"})
		m.Until(t, func() bool { return acks(o) == 3 })
		end(false)
		if got, want := o.Acks(), []int{1, 1, 1, 0, 0, 0}; !slices.Equal(got, want) {
			t.Errorf("acknowledged %v, want %v", got, want)
		}
	})
	cases.Add("what is worked on for long, or waits for a save, is not delivered again", func(t *testing.T, m modetest.Mode) {
		t.Helper()
		o := h.New(t, m, lines)
		positions, in, end := begin(t, m, o, true, 6, nil)
		got := in.Take()
		for i := range got {
			got[i].Token = got[i].Token.In(epochs(t, 0))
		}
		got[0].Token.Settle()
		long := 3 * h.AckWait
		if m.Real() {
			long = 3 * h.AckWait / 2 // AckWait is long there, as a machine may stand still
		}
		time.Sleep(long)
		for _, l := range got[1:] {
			l.Token.Settle()
		}
		positions.Saved(1)
		end(false)
		wantAll(t, "acknowledged", o.Acks(), 6, 1)
		wantAll(t, "delivered", o.Deliveries(), 6, 1)
	})
	cases.Run(t)
}

// epochs returns an epoch behind so many barriers.
func epochs(t *testing.T, barriers int) *graph.Epoch {
	t.Helper()
	e := graph.NewEpoch(nil)
	for range barriers {
		e = e.Close()
	}
	return e
}
