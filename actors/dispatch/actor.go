package dispatch

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
)

// Sink is where rendered results go.
type Sink struct {
	Label string
	Form  graph.Form // what the sink takes, and how
	To    Queue
	// Dropped makes a full queue drop what it has no room for and is called for
	// each set; nil makes it block.
	Dropped func()
	// AtOnce is how many sets the sink takes at once; 0 for any number.
	AtOnce int
}

// Options describe the stage.
type Options struct {
	actors.StageOptions
	Sinks []Sink
}

// Stage is the stage: what of it outlives a restart of its actor.
type Stage struct {
	actors.Stage[*graph.ResultSet]
	sinks []outlet
	open  graph.Sharer // of lines that several sinks take, or in several pieces, and nobody waits for
	ids   graph.DeliveryIDs
	begun delivery // of the set in hand
}

// delivery is what the pieces of a set have in common.
type delivery struct {
	set *graph.ResultSet
	id  graph.DeliveryID
	at  time.Time
}

// outlet is a sink with what it still has to take.
type outlet struct {
	Sink
	box *mailbox.Outbox[*graph.Bundle]
}

// joined is how many result sets a run has at most.
const joined = 64

// New builds the stage.
func New(o Options) *Stage {
	s := &Stage{Stage: actors.NewStage(o.StageOptions, actors.Shape[*graph.ResultSet]{
		Name: string(graph.StageDispatch), Size: graph.SizeOfResultSet, Join: joined,
	})}
	for _, sink := range o.Sinks {
		var to mailbox.Outlet[*graph.Bundle] = sink.To
		if sink.Dropped != nil {
			to = &dropping{to: sink.To, dropped: sink.Dropped}
		}
		s.sinks = append(s.sinks, outlet{sink, mailbox.NewOutbox(s.Cell(), to)})
	}
	return s
}

// Produce makes an instance of the actor.
func (s *Stage) Produce(actors.RestartState) actor.Actor {
	forms := make([]graph.Form, len(s.sinks))
	for i := range s.sinks {
		forms[i] = s.sinks[i].Form
	}
	render := step.NewRender(forms)
	for i := range s.sinks {
		if n := s.sinks[i].AtOnce; n > 0 {
			render.Limit(i, n)
		}
	}
	return &shell{Stage: s, render: render, undo: render.Undo}
}

// shell is the actor: it renders, offers and answers.
type shell struct {
	*Stage
	render *step.Render
	undo   func() // of render, made once
}

// Detail is what the stage's record shows beside the common members.
type Detail struct {
	Sinks       int      `json:"sinks"`
	WaitingFor  []string `json:"waiting_for"`
	Quarantined int64    `json:"quarantined"`
}

// Receive offers result sets in order.
func (s *shell) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *mailbox.Run[*graph.ResultSet]:
		s.sets(m, time.Now())
	case actors.Detail:
		c.Respond(s.detail())
	}
}

func (s *shell) sets(run *mailbox.Run[*graph.ResultSet], now time.Time) {
	var ended graph.Releaser
	defer ended.Flush()
	s.render.Close() // what was offered in the last step is gone
	available := s.available()
	for set := range run.All() {
		if set.Barrier != nil {
			s.Export(set.Barrier, nil)
			continue
		}
		if s.begun.set != set || run.Pos() == 0 {
			s.begun = delivery{set, s.ids.Next(), now}
		}
		for through := false; !through; {
			var fits bool
			if through, fits = s.piece(run, set, &available); through {
				s.begun.set = nil
				ended.List(set)
			}
			if !fits {
				if !s.taken() {
					return
				}
				available = s.available()
			}
			if !through && run.Urgent() {
				return
			}
		}
	}
}

// piece offers the next piece of a set, and reports whether it was the last and whether
// the sinks have room for more.
func (s *shell) piece(run *mailbox.Run[*graph.ResultSet], set *graph.ResultSet, available *available) (last, fits bool) {
	var takers, next int
	cause := s.Cell().Isolate().Step(func() { takers, next = s.render.Piece(set, run.Pos(), s.begun.id, s.begun.at) }, s.undo)
	if cause != nil {
		s.Quarantine(set.Raw, set.Token, cause)
		run.Done()
		return true, true
	}
	last = next == len(set.Results)
	if fits = available.take(s.render.Size()); !fits {
		s.render.Close() // those before it fit, and leave without it
	}
	s.offer(set, takers, last)
	if last {
		run.Done() // it leaves now, whatever happens to the next set
	} else {
		run.SetPos(next)
	}
	return last, fits // if it fits, it leaves with those that follow
}

// taken sends what was offered and reports whether every sink took it. What a
// sink that blocks has no room for holds the lane, and with it the next list.
func (s *shell) taken() bool {
	s.render.Close()
	all := true
	for i := range s.sinks {
		all = s.sinks[i].box.Flush() && all
	}
	return all
}

// offer gives every sink what was rendered for it: with what was offered before, if
// that has not left. Each form that takes something has a share of the token. With the last
// piece goes the share of the set; a set that no sink accepts ends here.
func (s *shell) offer(set *graph.ResultSet, takers int, last bool) {
	if !last || takers > 1 { // several have a share
		set.Token = s.open.Token(set.Token)
	}
	token := set.Token
	switch {
	case !last:
		token.Retain(takers)
	case takers == 0:
		token.Settle()
		return
	default:
		token.Retain(takers - 1)
	}
	if !s.render.Add(token) {
		return
	}
	for i := range s.sinks {
		if b := s.render.Begun(i); b != nil {
			s.sinks[i].box.Push(b)
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
