package risk

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// Options describe the stage.
type Options struct {
	Capacity int // of the data lane, in lists
	Bytes    int // of the data lane
	Next     mailbox.Outlet[*graph.ResultSet]
}

// Stage is the stage: what of it outlives a restart of its actor.
type Stage struct {
	cell *mailbox.Cell
	lane *mailbox.Lane[*graph.ResultSet]
	next *mailbox.Outbox[*graph.ResultSet]
}

// joined is how many lists a run has at most.
const joined = 256

// New builds the stage.
func New(o Options) *Stage {
	s := &Stage{cell: mailbox.NewCell(string(graph.StageRisk), actors.KindStage, mailbox.CellOptions{})}
	s.lane = mailbox.NewLane(s.cell, mailbox.LaneOptions[*graph.ResultSet]{
		Capacity: o.Capacity, Bytes: o.Bytes, Size: graph.SizeOfResultSet, Join: joined,
	})
	s.next = mailbox.NewOutbox(s.cell, o.Next)
	return s
}

// Lane is the stage's input.
func (s *Stage) Lane() *mailbox.Lane[*graph.ResultSet] { return s.lane }

// Cell is the stage's actor.
func (s *Stage) Cell() *mailbox.Cell { return s.cell }

// Produce makes an instance of the actor.
func (s *Stage) Produce(actors.RestartState) actor.Actor { return &shell{Stage: s} }

// shell is the actor.
type shell struct{ *Stage }

// Detail is what the stage's record shows beside the common members.
type Detail struct {
	Entities      int   `json:"entities"`
	Contributions int   `json:"contributions"`
	Quarantined   int64 `json:"quarantined"`
}

// Receive passes lists on in order.
func (s *shell) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *mailbox.Run[*graph.ResultSet]:
		for _, list := range m.Rest() {
			if list.Barrier != nil {
				list.Barrier.Export(graph.StageRisk, nil)
			}
		}
		m.Pass(s.next)
	case actors.Detail:
		c.Respond(Detail{Quarantined: s.cell.Quarantined()})
	case mailbox.Drain:
		c.Respond(mailbox.NoExport{})
	}
}
