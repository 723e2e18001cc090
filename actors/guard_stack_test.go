package actors

import (
	"strings"
	"testing"
)

func breaks(of []int) int { return of[len(of)] }

func TestTheStackOfAPoisonBeginsWhereItPanicked(t *testing.T) {
	g := &Isolate{}
	p, stack := g.try(func() { breaks(nil) })
	if p == nil || !strings.Contains(stack.String(), "actors.breaks\n") || !strings.Contains(stack.String(), "guard_stack_test.go:") {
		t.Errorf("poison %v with the stack\n%s\nwant the function that panicked in it", p, stack)
	}
	if got := callers(nil).String(); got != "" {
		t.Errorf("no stack is %q, want nothing", got)
	}
}
