package mailbox

import (
	"strings"
	"testing"
)

func breaks(of []int) int { return of[len(of)] }

func TestTheStackOfAPoisonBeginsWhereItPanicked(t *testing.T) {
	g := &Isolate{}
	p, stack := g.try(func() { breaks(nil) })
	if p == nil || !strings.Contains(stack.String(), "mailbox.breaks\n") || !strings.Contains(stack.String(), "isolate_test.go:") {
		t.Errorf("poison %v with the stack\n%s\nwant the function that panicked in it", p, stack)
	}
	if got := callers(nil).String(); got != "" {
		t.Errorf("no stack is %q, want nothing", got)
	}
}

func TestAStepThatDoesNotPanicGivesNoError(t *testing.T) {
	cell := NewCell("x", "", CellOptions{})
	if err := cell.Isolate().Step(func() {}, nil); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	err := cell.Isolate().Step(func() { panic("odd") }, nil)
	if err == nil || err.Error() != "panic: odd" || cell.Quarantined() != 1 {
		t.Errorf("got %v and %d quarantined, want the panic and 1", err, cell.Quarantined())
	}
}
