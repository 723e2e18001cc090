package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// passed is how many result sets a run of a Pass has at most.
const passed = 256

// Pass is a stage of the result path that does nothing yet: it passes result sets
// on in order.
type Pass struct {
	Stage[*graph.ResultSet]
	next   *mailbox.Outbox[*graph.ResultSet]
	detail func(quarantined int64) any
}

// NewPass builds the stage. detail makes its answer to Detail.
func NewPass(name graph.Stage, o StageOptions, next mailbox.Outlet[*graph.ResultSet], detail func(quarantined int64) any) *Pass {
	p := &Pass{detail: detail, Stage: NewStage(o, Shape[*graph.ResultSet]{
		Name: string(name), Size: graph.SizeOfResultSet, Join: passed,
	})}
	p.next = mailbox.NewOutbox(p.cell, next)
	return p
}

// Produce makes an instance of the actor.
func (p *Pass) Produce(RestartState) actor.Actor { return actor.ReceiveFunc(p.receive) }

func (p *Pass) receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *mailbox.Run[*graph.ResultSet]:
		for _, set := range m.Rest() {
			p.Export(set.Barrier, nil)
		}
		m.Pass(p.next)
	case Detail:
		c.Respond(p.detail(p.cell.Quarantined()))
	}
}
