package alert

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert"
)

// begin is the moment from which the stage counts its time.
func begin() time.Time { return time.Now() }

// shell is the actor: it goes through the results of one line after the other, so that a
// question never waits for more than one.
type shell struct {
	*Stage
	isolate  *mailbox.Isolate
	pipeline *alert.Pipeline
	work     work
	step     func() // of work, made once
}

// Produce makes an instance of the actor: the first with the state the stage was built
// with, another with that of the one before it or of the last save. The silences are always
// those that were made.
func (s *Stage) Produce(h actors.RestartState) actor.Actor {
	now := time.Now().Unix()
	a := &shell{Stage: s, isolate: s.Cell().Isolate()}
	switch {
	case h.State != nil:
		a.pipeline = h.State.(*alert.Pipeline)
	case h.Export != nil:
		a.pipeline = s.revive(h.Export.(*alert.View), now)
	case s.first != nil:
		a.pipeline, s.first = s.first, nil
	default:
		a.pipeline = s.empty()
	}
	a.step = a.rest
	s.metrics.hold(a.pipeline.Counts(now))
	return a
}

// State is handed over to the next instance after a panic that left it whole.
func (a *shell) State() any { return a.pipeline }

// Receive goes on with result sets, tells what is due, and answers. What sets that only pass
// run through needs little room: runs begin on a small stack, and to make that larger costs
// as much as passing them on.
func (a *shell) Receive(c actor.Context) {
	m, ok := c.Message().(*mailbox.Run[*graph.ResultSet])
	switch {
	case !ok:
		a.serve(c)
	case a.pipeline.Processes():
		a.sets(m)
	default:
		a.pass(m)
	}
}

// pass passes result sets on as they are.
func (a *shell) pass(run *mailbox.Run[*graph.ResultSet]) {
	for _, set := range run.Rest() {
		if set.Barrier != nil {
			a.Export(set.Barrier, nil)
		}
	}
	run.Pass(a.next)
}

// serve does what is not about result sets.
func (a *shell) serve(c actor.Context) {
	switch m := c.Message().(type) {
	case mailbox.Tick:
		a.tick()
	case listSilences:
		c.Respond(silencesListed{a.pipeline.Silences().List(), time.Now().Unix()})
	case checkCapacity:
		if err := a.full(); err != nil {
			c.Respond(err)
			return
		}
		c.Respond(capacityFound{time.Now().Unix(), !a.pipeline.Processes()})
	case addSilence:
		c.Respond(a.add(m))
	case findSilence:
		c.Respond(silenceFound{a.pipeline.Silences().Find(m.id)})
	case removeSilence:
		c.Respond(a.remove(m))
	case listIncidents:
		c.Respond(incidentsListed{a.pipeline.Incidents()})
	case configure:
		a.configure(m.file)
		c.Respond(configured{})
	case renew:
		a.isolate.Apply(a.pipeline.Renew)
		a.metrics.hold(a.pipeline.Counts(time.Now().Unix()))
		c.Respond(configured{})
	case actors.Detail:
		c.Respond(a.detail(time.Now().Unix()))
	case mailbox.Drain:
		a.last(!m.Expired)
		if view := a.export(); view != nil {
			c.Respond(view)
		}
	}
}

// export is what a save keeps of the stage; nil leaves what is stored as it is.
func (a *shell) export() any {
	if !a.pipeline.Processes() {
		return nil
	}
	a.exported = a.pipeline.Revision()
	return a.pipeline.Export()
}

// sets goes through result sets in order. The clock is read once for each.
func (a *shell) sets(run *mailbox.Run[*graph.ResultSet]) {
	var ended graph.Releaser
	defer ended.Flush()
	now := time.Now()
	for set := range run.All() {
		if set.Barrier != nil {
			a.Export(set.Barrier, a.export())
		} else if set.Record == nil {
			goesOn := a.process(set, now.Unix())
			end := time.Now()
			a.metrics.took(end.Sub(now))
			if now = end; !goesOn {
				run.Done()
				ended.List(set)
				continue
			}
		}
		a.next.Push(set)
	}
	a.metrics.held(a.pipeline.Held())
	a.notices.tell(a.log, now)
}

// tick tells what is due. A second that is late is not made up for.
func (a *shell) tick() {
	now := time.Now()
	if from, set := a.clock.at(now.Round(0), now.Sub(a.begun)); set {
		a.log.Warn("the clock of the machine was set: timers and silences go by it", "from", from.UTC().Format(time.RFC3339), "to", now.UTC().Format(time.RFC3339))
	}
	a.isolate.Apply(func() { a.ticked(now, a.pipeline.Tick(now.Unix(), a.emit)) })
	a.notices.tell(a.log, now)
}

// last is the last tick. What it would emit when the drain is over reaches nobody, so the
// state that is kept stays as it was.
func (a *shell) last(inTime bool) {
	now := time.Now()
	a.notices.rest(a.log, now)
	if !a.pipeline.Processes() || !inTime && a.kept {
		return
	}
	a.isolate.Apply(func() { a.ticked(now, a.pipeline.Last(now.Unix(), a.kept, a.emit)) })
}

// configure goes on with another file.
func (a *shell) configure(f *alert.File) {
	now := time.Now()
	a.isolate.Apply(func() {
		t := a.pipeline.Configure(f, now.Unix(), a.emit)
		a.file = f
		a.ticked(now, t)
	})
}

// emit sends a record.
func (a *shell) emit(r graph.Record) { a.next.Push(&graph.ResultSet{Record: r}) }

// ticked counts what came out of a tick that began at begin.
func (a *shell) ticked(begin time.Time, t alert.Ticked) {
	a.metrics.ticked(&t)
	if t.Records() > 0 {
		a.metrics.took(time.Since(begin))
	}
	a.forget(t.Expired)
	a.metrics.hold(a.pipeline.Counts(begin.Unix()))
}
