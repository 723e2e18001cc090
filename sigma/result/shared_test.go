package result

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
)

func TestWhatDetectionsShareIsMadeOnceForEachKey(t *testing.T) {
	type first struct{}
	type second struct{}
	s := NewSelections(NewRule(0, &ast.Rule{Meta: ast.Meta{Title: "T"}}), []string{"a"})
	var made atomic.Int32
	of := func(key any, suffix string) string {
		return s.Shared(key, func(d *Detection) any {
			made.Add(1)
			return d.Rule.Title + suffix
		}).(string)
	}
	for range 3 {
		if got := of(first{}, "1"); got != "T1" {
			t.Errorf("got %q, want T1", got)
		}
		if got := of(second{}, "2"); got != "T2" {
			t.Errorf("got %q, want T2", got)
		}
	}
	if n := made.Load(); n != 2 {
		t.Errorf("made %d times, want once for each of two keys", n)
	}
}

func TestAllWhoAskAtOnceGetTheSame(t *testing.T) {
	s := NewSelections(NewRule(0, &ast.Rule{}), nil)
	var group sync.WaitGroup
	got := make([]any, 8)
	for i := range got {
		group.Go(func() { got[i] = s.Shared(0, func(*Detection) any { return new(int) }) })
	}
	group.Wait()
	for _, g := range got {
		if g != got[0] {
			t.Errorf("got %p and %p, want one value", g, got[0])
		}
	}
}
