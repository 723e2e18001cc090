package graph_test

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/sluicehq/sluice/graph"
)

func TestALineIsSettledOnceWhenItsLastShareIs(t *testing.T) {
	for _, tc := range []struct {
		name     string
		lines    int
		shares   int // added to every line
		settle   int // times per line
		withdraw int // from this line on, -1: none
		settled  int // calls of the receipt's function
		open     int
		over     int
	}{
		{"a receipt of no lines is settled at once", 0, 0, 0, -1, 1, 0, 0},
		{"an open line keeps the receipt open", 3, 0, 0, -1, 0, 3, 0},
		{"each line settles once", 3, 0, 1, -1, 1, 0, 0},
		{"three sinks settle three times", 3, 2, 3, -1, 1, 0, 0},
		{"a missing share keeps the line open", 3, 2, 2, -1, 0, 3, 0},
		{"a settlement too many is counted and reaches nobody", 2, 0, 2, -1, 1, 0, 2},
		{"lines that were never handed over do not count", 3, 0, 0, 1, 0, 1, 0},
		{"a withdrawn run is settled", 3, 0, 0, 0, 1, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			calls := 0
			r := graph.NewReceipt(tc.lines, func() { calls++ })
			for i := range tc.lines {
				r.Token(i).Retain(tc.shares)
				for range tc.settle {
					r.Token(i).Settle()
				}
			}
			if tc.withdraw >= 0 {
				r.Withdraw(tc.withdraw)
			}
			if calls != tc.settled || r.Open() != tc.open || r.Overdrawn() != tc.over {
				t.Errorf("got %d calls, %d open, %d overdrawn, want %d, %d, %d",
					calls, r.Open(), r.Overdrawn(), tc.settled, tc.open, tc.over)
			}
		})
	}
}

func TestTheZeroTokenNeedsNoSettlement(t *testing.T) {
	var token graph.Token
	e := graph.NewEpoch(nil)
	token = token.In(e)
	token.Retain(2)
	token.Settle()
	if token.Counts() {
		t.Error("the zero token counts, want it not to")
	}
	e.Close()
	select {
	case <-e.Ended():
	default:
		t.Error("an epoch of zero tokens has not ended, want it to")
	}
}

func TestSharesAreSettledFromAnyGoroutine(t *testing.T) {
	const lines, holders = 100, 8
	done := make(chan struct{})
	r := graph.NewReceipt(lines, func() { close(done) })
	var wg sync.WaitGroup
	for i := range lines {
		r.Token(i).Retain(holders - 1)
	}
	for range holders {
		wg.Go(func() {
			for i := range lines {
				r.Token(i).Settle()
			}
		})
	}
	wg.Wait()
	<-done
	if r.Open() != 0 || r.Overdrawn() != 0 {
		t.Errorf("got %d open, %d overdrawn, want none", r.Open(), r.Overdrawn())
	}
}

func TestAnEpochEndsAfterTheOneBeforeIt(t *testing.T) {
	ended := func(e *graph.Epoch) bool {
		select {
		case <-e.Ended():
			return true
		default:
			return false
		}
	}
	r := graph.NewReceipt(4, func() {})
	first := graph.NewEpoch(nil)
	a, b := r.Token(0).In(first), r.Token(1).In(first)
	second := first.Close()
	c := r.Token(2).In(second)
	third := second.Close()
	d := r.Token(3).In(third)
	third.Close()

	b.Retain(1)
	for _, step := range []struct {
		name   string
		settle graph.Token
		want   [3]bool
	}{
		{"the last token of the third", d, [3]bool{false, false, false}},
		{"the last token of the second", c, [3]bool{false, false, false}},
		{"one of two of the first", a, [3]bool{false, false, false}},
		{"one of two shares of the other", b, [3]bool{false, false, false}},
		{"the other share", b, [3]bool{true, true, true}},
	} {
		step.settle.Settle()
		if got := [3]bool{ended(first), ended(second), ended(third)}; got != step.want {
			t.Errorf("after %s: got ended %v, want %v", step.name, got, step.want)
		}
	}
}

func TestABarrierPassesWhenDispatchHasExported(t *testing.T) {
	b := graph.NewBarrier(7)
	e := graph.NewEpoch(nil)
	b.Enter(e)
	for _, s := range graph.Stages() {
		select {
		case <-b.Passed():
			t.Errorf("passed before %s, want after dispatch", s)
		default:
		}
		if s == graph.StageRisk {
			b.Export(s, nil)
			continue
		}
		b.Export(s, string(s))
	}
	<-b.Passed()
	<-b.Released()
	if got := b.Exports(); len(got) != 7 || got[graph.StageAlert] != "alert" {
		t.Errorf("exports: got %v, want those of the seven stages with state", got)
	}
}

func TestPositionsMakeLinesAndReceiptsNoLarger(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("sizes are those of 64-bit platforms")
	}
	if line, receipt := unsafe.Sizeof(graph.Line{}), unsafe.Sizeof(graph.Receipt{}); line != 64 || receipt != 48 {
		t.Errorf("a line has %d bytes and a receipt %d, want 64 and 48", line, receipt)
	}
}

func TestOpenLinesAreCountedWhoeverWaitsForThem(t *testing.T) {
	for _, tc := range []struct {
		name   string
		asked  bool // somebody waits for the line
		shared bool // several holders are counted
		held   int  // further holders
		settle int
		late   bool
		open   int
		told   int // the source
	}{
		{"a line that nobody waits for ends when it is settled", false, false, 0, 1, false, 0, 0},
		{"and is open before", false, false, 0, 0, false, 1, 0},
		{"with two holders it is open until both have settled", false, true, 1, 1, false, 1, 0},
		{"and ends once", false, true, 1, 2, false, 0, 0},
		{"a line that somebody waits for ends when he is told", true, true, 0, 1, false, 0, 1},
		{"with two holders it is open until both have settled, too", true, true, 1, 1, false, 1, 0},
		{"a late line that nothing becomes of stays open", true, false, 0, 0, true, 1, 0},
		{"a late line that becomes a dead letter ends, and nobody is told", true, false, 0, 1, true, 0, 0},
		{"with two holders it ends once, and nobody is told", true, false, 1, 2, true, 0, 0},
		{"the same without anybody to tell", false, true, 1, 2, true, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			open, told := graph.NewOpen(), 0
			open.Admitted(1)
			var token graph.Token
			if tc.asked {
				token = graph.NewReceipt(1, func() { told++ }).Token(0)
			}
			token = open.Token(token.In(graph.NewEpoch(open)))
			if tc.shared {
				token = new(graph.Sharer).Token(token)
			}
			token.Retain(tc.held)
			if tc.late {
				token.Late()
			}
			for range tc.settle {
				token.Settle()
			}
			if in, left := open.Lines(); in != 1 || left != tc.open || told != tc.told {
				t.Errorf("%d of %d open, told %d times, want %d of 1 and %d", left, in, told, tc.open, tc.told)
			}
			if token.Counts() != tc.asked {
				t.Errorf("the token counts: %t, want %t", token.Counts(), tc.asked)
			}
		})
	}
}
