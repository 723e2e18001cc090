package step_test

import (
	"testing"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/graph/step/steptest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestASequentialProgramIsolatesPanics(t *testing.T) {
	steptest.Isolate(t, func() step.Isolate { return new(step.Sequential) })
}

func TestIsolatingDoesNotAllocate(t *testing.T) {
	g, n := new(step.Sequential), 0
	count, back := func(int) { n++ }, func(int) { n-- }
	if got := testing.AllocsPerRun(100, func() { g.Each(0, 100, count, back, nil) }); got != 0 {
		t.Errorf("%g allocations, want none", got)
	}
}
