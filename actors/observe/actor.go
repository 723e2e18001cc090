package observe

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// Options describe the stage.
type Options struct {
	Capacity int // of the data lane, in lines
	Bytes    int // of the data lane
	Next     mailbox.Outlet[*graph.Batch]
}

// Stage is the stage: what of it outlives a restart of its actor.
type Stage struct {
	cell *mailbox.Cell
	lane *mailbox.Lane[*graph.Batch]
	next *mailbox.Outbox[*graph.Batch]
}

// New builds the stage.
func New(o Options) *Stage {
	s := &Stage{cell: mailbox.NewCell(string(graph.StageObserve), actors.KindStage, mailbox.CellOptions{})}
	s.lane = mailbox.NewLane(s.cell, mailbox.LaneOptions[*graph.Batch]{
		Capacity: o.Capacity, Bytes: o.Bytes, Size: graph.SizeOfBatch,
	})
	s.next = mailbox.NewOutbox(s.cell, o.Next)
	return s
}

// Lane is the stage's input.
func (s *Stage) Lane() *mailbox.Lane[*graph.Batch] { return s.lane }

// Cell is the stage's actor.
func (s *Stage) Cell() *mailbox.Cell { return s.cell }

// Produce makes an instance of the actor.
func (s *Stage) Produce(actors.RestartState) actor.Actor { return &shell{Stage: s} }

// Detail is what the stage's record shows beside the common members.
type Detail struct {
	Fields      bool  `json:"fields"`
	Schemas     bool  `json:"schemas"`
	TapSessions int   `json:"tap_sessions"`
	Quarantined int64 `json:"quarantined"`
}

// shell is the actor.
type shell struct{ *Stage }

// Receive passes batches on in order.
func (s *shell) Receive(c actor.Context) {
	begin := time.Now()
	switch m := c.Message().(type) {
	case *mailbox.Run[*graph.Batch]:
		for b := range m.All() {
			if b.Barrier != nil {
				b.Barrier.Export(graph.StageObserve, nil)
			}
			b.Timing.Observe = time.Since(begin)
			s.next.Push(b)
		}
	case actors.Detail:
		c.Respond(Detail{Quarantined: s.cell.Quarantined()})
	case mailbox.Drain:
		c.Respond(mailbox.NoExport{})
	}
}
