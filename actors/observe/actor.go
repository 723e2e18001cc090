package observe

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// Stage is the stage: what of it outlives a restart of its actor.
type Stage struct {
	actors.Stage[*graph.Batch]
	next *mailbox.Outbox[*graph.Batch]
}

// New builds the stage.
func New(o actors.StageOptions, next mailbox.Outlet[*graph.Batch]) *Stage {
	s := &Stage{Stage: actors.NewStage(o, actors.Shape[*graph.Batch]{Name: string(graph.StageObserve), Size: graph.SizeOfBatch})}
	s.next = mailbox.NewOutbox(s.Cell(), next)
	return s
}

// Produce makes an instance of the actor.
func (s *Stage) Produce(actors.RestartState) actor.Actor { return actor.ReceiveFunc(s.receive) }

// Detail is what the stage's record shows beside the common members.
type Detail struct {
	Fields      bool  `json:"fields"`
	Schemas     bool  `json:"schemas"`
	TapSessions int   `json:"tap_sessions"`
	Quarantined int64 `json:"quarantined"`
}

// receive passes batches on in order.
func (s *Stage) receive(c actor.Context) {
	begin := time.Now()
	switch m := c.Message().(type) {
	case *mailbox.Run[*graph.Batch]:
		for b := range m.All() {
			s.Export(b.Barrier, nil)
			b.Timing.Observe = time.Since(begin)
			s.next.Push(b)
		}
	case actors.Detail:
		c.Respond(Detail{Quarantined: s.Cell().Quarantined()})
	}
}
