package step

import (
	"fmt"

	"github.com/sluicehq/sluice/graph"
)

// Isolate contains the panics of steps. It is used by one goroutine.
type Isolate interface {
	// Step runs step. When it panics, undo removes what the step left behind and
	// the step runs once more. A second panic is returned as an error with the
	// text "panic: " and the panic value, after undo. undo may be nil.
	Step(step, undo func()) error

	// Each runs step for the numbers from up to n. One that panics is treated as
	// in Step, poisoned gets the error of the second panic, and the next number
	// follows.
	Each(from, n int, step, undo func(i int), poisoned func(i int, cause error))

	// Apply runs change, which alters state that outlives a step. A panic in it is
	// not contained, not even inside a step.
	Apply(change func())
}

// Poisoned is a line that was taken out because its step panicked twice.
type Poisoned struct {
	Line  int   // of the batch
	Cause error // with the text "panic: " and the panic value
}

// quarantine marks line i of b as taken out and adds it to list.
func quarantine(list []Poisoned, b *graph.Batch, i int, cause error) []Poisoned {
	b.Outcomes[i] = graph.LineOutcome{Kind: graph.Quarantined}
	return append(list, Poisoned{i, cause})
}

// Sequential is the Isolate of a program without actors. The zero value is ready.
type Sequential struct{ applying bool }

// Step implements Isolate.
func (s *Sequential) Step(step, undo func()) error {
	for attempt := 0; ; attempt++ {
		err := s.try(step)
		if err == nil {
			return nil
		}
		if undo != nil {
			s.Apply(undo)
		}
		if attempt > 0 {
			return err
		}
	}
}

// Each implements Isolate.
func (s *Sequential) Each(from, n int, step, undo func(i int), poisoned func(i int, cause error)) {
	for i := from; i < n; i++ {
		if err := s.Step(func() { step(i) }, func() { undo(i) }); err != nil {
			poisoned(i, err)
		}
	}
}

// Apply implements Isolate.
func (s *Sequential) Apply(change func()) {
	s.applying = true
	change()
	s.applying = false
}

func (s *Sequential) try(f func()) (err error) {
	defer func() {
		if s.applying {
			return
		}
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	f()
	return nil
}
