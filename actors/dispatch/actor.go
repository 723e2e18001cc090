package dispatch

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// Sink is where items go.
type Sink struct {
	Label string
	To    Queue
	// Dropped makes a full queue drop items and is called for each; nil makes it
	// block.
	Dropped func()
}

// Options describe the stage.
type Options struct {
	actors.StageOptions
	Sinks []Sink
}

// Stage is the stage: what of it outlives a restart of its actor.
type Stage struct {
	actors.Stage[*graph.ResultSet]
	sinks  []outlet
	sheets sheets
}

// outlet is a sink with the items it still has to take.
type outlet struct {
	Sink
	box *mailbox.Outbox[*graph.Item] // nil for a sink that drops
}

// joined is how many lists a run has at most.
const joined = 64

// New builds the stage.
func New(o Options) *Stage {
	s := &Stage{Stage: actors.NewStage(o.StageOptions, actors.Shape[*graph.ResultSet]{
		Name: string(graph.StageDispatch), Size: graph.SizeOfResultSet, Join: joined,
	})}
	for _, sink := range o.Sinks {
		out := outlet{Sink: sink}
		if sink.Dropped == nil {
			out.box = mailbox.NewOutbox(s.Cell(), sink.To)
		}
		s.sinks = append(s.sinks, out)
	}
	return s
}

// Produce makes an instance of the actor.
func (s *Stage) Produce(actors.RestartState) actor.Actor {
	return &shell{Stage: s, render: renderer{from: &s.sheets, sinks: len(s.sinks)}}
}

// shell is the actor: it renders, offers and answers.
type shell struct {
	*Stage
	render renderer
}

// Detail is what the stage's record shows beside the common members.
type Detail struct {
	Sinks       int      `json:"sinks"`
	WaitingFor  []string `json:"waiting_for"`
	Quarantined int64    `json:"quarantined"`
}

// Receive offers lists in order.
func (s *shell) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *mailbox.Run[*graph.ResultSet]:
		s.lists(m, time.Now())
	case actors.Detail:
		c.Respond(s.detail())
	}
}

func (s *shell) lists(run *mailbox.Run[*graph.ResultSet], now time.Time) {
	var ended graph.Releaser
	defer ended.Flush()
	room := s.room()
	for list := range run.All() {
		if list.Barrier != nil {
			s.Export(list.Barrier, nil)
			continue
		}
		var item *graph.Item
		if p := s.Cell().Guard().Step(func() { item = s.render.item(list, now) }, nil); p != nil {
			s.Quarantine(list.Raw, list.Token, p)
			run.Done()
			ended.List(list)
			continue
		}
		s.offer(item)
		run.Done() // its items leave now, whatever happens to the next list
		ended.List(list)
		if room.take(item) {
			continue // it leaves with those that follow
		}
		if !s.taken() {
			return
		}
		room = s.room()
	}
}

// taken sends what was offered and reports whether every sink took it. What a
// sink that blocks has no room for holds the lane, and with it the next list.
func (s *shell) taken() bool {
	all := true
	for i := range s.sinks {
		all = s.sinks[i].box.Flush() && all
	}
	return all
}

// offer gives the item to every sink.
func (s *shell) offer(item *graph.Item) {
	item.Token.Retain(len(s.sinks) - 1)
	for i := range s.sinks {
		sink := &s.sinks[i]
		if sink.box != nil {
			sink.box.Push(item)
			continue
		}
		if sink.To.TryPut([]*graph.Item{item}) == 0 {
			sink.Dropped()
			item.Token.Settle()
			item.Release()
		}
	}
}

func (s *shell) detail() Detail {
	d := Detail{Sinks: len(s.sinks), WaitingFor: []string{}, Quarantined: s.Cell().Quarantined()}
	for i := range s.sinks {
		if s.sinks[i].box.Waiting() > 0 {
			d.WaitingFor = append(d.WaitingFor, s.sinks[i].Label)
		}
	}
	return d
}
