package actors_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

func TestWhatAnActorTakesInHandIsBoundedInBytes(t *testing.T) {
	const kib = 1 << 10
	for _, tc := range []struct {
		name string
		put  []graph.Line
		want []int // elements of the runs
	}{
		{"short lines go by their number", lines(200, 10), []int{128, 72}},
		{"long lines go by their bytes", lines(8, 300*kib), []int{3, 3, 2}},
		{"lines of more than half of the bound go alone", lines(3, 600*kib), []int{1, 1, 1}},
		{"a line larger than the bound goes alone", append(lines(1, 2048*kib), lines(2, 10)...), []int{1, 2}},
		{"and is not joined to others", append(lines(2, 10), lines(1, 2048*kib)...), []int{2, 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := actors.NewStage(actors.StageOptions{Capacity: 1000}, actors.Shape[graph.Line]{
					Name: "parse", Size: graph.SizeOfLine, Join: 128,
				})
				s.Lane().TryPut(tc.put)
				var runs []int
				produce := func(actors.RestartState) actor.Actor {
					return actor.ReceiveFunc(func(c actor.Context) {
						if m, ok := c.Message().(*mailbox.Run[graph.Line]); ok {
							runs = append(runs, len(m.Take()))
						}
					})
				}
				if _, err := actorstest.System(t, actors.Options{}).Spawn(s.Cell(), produce); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if !slices.Equal(runs, tc.want) {
					t.Errorf("runs of %v elements, want %v", runs, tc.want)
				}
			})
		})
	}
}
