// Package steptest checks implementations of the interfaces of steps.
package steptest

import (
	"errors"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/graph/step"
)

const always = 1 << 30

// Isolate checks that what fresh returns isolates panics as step.Isolate promises.
func Isolate(t *testing.T, fresh func() step.Isolate) {
	t.Helper()
	for _, tc := range []struct {
		name           string
		panics         map[int]int // how often, by number
		want, poisoned []int
	}{
		{"no panic", nil, []int{0, 1, 2, 3, 4}, nil},
		{"one panics once", map[int]int{2: 1}, []int{0, 1, 2, 3, 4}, nil},
		{"one panics always", map[int]int{2: always}, []int{0, 1, 3, 4}, []int{2}},
		{"the first and the last panic", map[int]int{0: always, 4: always}, []int{1, 2, 3}, []int{0, 4}},
		{"all panic", map[int]int{0: always, 1: always, 2: always, 3: always, 4: always}, nil, []int{0, 1, 2, 3, 4}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for name, run := range map[string]func(step, undo func(int), poisoned func(int, error)){
				"Each": func(step, undo func(int), poisoned func(int, error)) { fresh().Each(0, 5, step, undo, poisoned) },
				"Step": func(step, undo func(int), poisoned func(int, error)) {
					g := fresh()
					for i := range 5 {
						if err := g.Step(func() { step(i) }, func() { undo(i) }); err != nil {
							poisoned(i, err)
						}
					}
				},
			} {
				left := make(map[int]int)
				for i, n := range tc.panics {
					left[i] = n
				}
				var done, poisoned []int
				run(func(i int) {
					done = append(done, i)
					if left[i] > 0 {
						left[i]--
						panic("boom")
					}
				}, func(i int) {
					if done[len(done)-1] != i {
						t.Errorf("%s: undoes %d after %v", name, i, done)
					}
					done = done[:len(done)-1]
				}, func(i int, cause error) {
					poisoned = append(poisoned, i)
					if cause.Error() != "panic: boom" {
						t.Errorf("%s: cause %q, want the panic", name, cause)
					}
				})
				if !slices.Equal(done, tc.want) || !slices.Equal(poisoned, tc.poisoned) {
					t.Errorf("%s: done %v, poisoned %v, want %v and %v", name, done, poisoned, tc.want, tc.poisoned)
				}
			}
		})
	}
	t.Run("there may be nothing to undo", func(t *testing.T) {
		if err := fresh().Step(func() { panic(errors.New("boom")) }, nil); err == nil || err.Error() != "panic: boom" {
			t.Errorf("got %v, want the panic", err)
		}
	})
	for name, run := range map[string]func(g step.Isolate, f func()){
		"Apply":             func(g step.Isolate, f func()) { g.Apply(f) },
		"Apply in a step":   func(g step.Isolate, f func()) { _ = g.Step(func() { g.Apply(f) }, nil) },
		"the undoing":       func(g step.Isolate, f func()) { _ = g.Step(func() { panic("first") }, f) },
		"an undoing of one": func(g step.Isolate, f func()) { g.Each(0, 2, func(int) { panic("first") }, func(int) { f() }, nil) },
	} {
		t.Run("a panic is not contained in "+name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("contained, want a panic")
				}
			}()
			run(fresh(), func() { panic("boom") })
		})
	}
}
