package actors_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/mailbox"
)

// The steps take three milliseconds together: the scheduler by itself would leave the
// only processor to them to the end.
func TestAnActorWithMuchToDoLetsOthersRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := actorstest.System(t, actors.Options{})
	cell := mailbox.NewCell("alert", actors.KindStage, mailbox.CellOptions{})
	lane := mailbox.NewLane(cell, mailbox.LaneOptions[*item]{Capacity: 1024})
	const steps = 10
	lane.TryPut(items(1, steps))
	var other atomic.Bool
	ran := make(chan bool, 1)
	n := 0
	_, err := s.Spawn(cell, func(actors.RestartState) actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			m, ok := c.Message().(*mailbox.Run[*item])
			if !ok {
				return
			}
			for range m.All() {
				if n++; n == 1 {
					go other.Store(true)
				}
				for begin := time.Now(); time.Since(begin) < 300*time.Microsecond; {
				}
				if n == steps {
					ran <- other.Load()
				}
			}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if !<-ran {
		t.Error("nobody else ran before the lane was empty")
	}
}
