package command

import (
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/engine"
)

// alerting brings the results of an evaluation to an alert pipeline, one event after the
// other. Its clock is that of the events: it stands at the newest time that an event has had
// so far, and never goes back. An event without a time leaves it where it is. Events in front
// of the first time are of the beginning of 1970; the ticks begin with the first time, and
// so what such events leave behind is due then. So the same events make the same records,
// whenever they are evaluated and however they arrive.
type alerting struct {
	pipeline *alert.Pipeline
	tell     recordRenderer

	times   []int64 // of the events of the batch, as readTimes notes them
	now     int64   // the clock; 0 before the first time
	next    int64   // the first second that has had no tick
	ticks   uint64
	cleared int64 // the last second in which memory of what is over was freed
	page
	set graph.ResultSet // of the event in hand

	untimed             uint64 // results before the first time
	silenced, folded    uint64
	inhibited           uint64
	unstored, ungrouped uint64
	evicted             uint64 // sources of inhibition
	summaries           uint64 // records of alerts
	aboutIncidents      uint64 // records of incidents
}

// newAlerting returns nil without a file.
func newAlerting(f *alert.File, p *printer) *alerting {
	if f == nil {
		return nil
	}
	p.fitRecords(f)
	return &alerting{pipeline: alert.New(f, alert.Options{NewID: newIDs()}), tell: p.recordRenderer()}
}

// clearEvery is how often memory of what is over is freed, in seconds of the clock.
const clearEvery = 60

// longGap is how many seconds without results are gone through one by one at most while
// records are held.
const longGap = 10

// readTimes notes for each event of a batch the newest time that one up to it has had, 0 for
// none.
func (j *job) readTimes(w *engine.Worker) {
	j.times = j.times[:0]
	newest := int64(0)
	for i := range j.batch.Events.Len() {
		if t, ok := w.Time(j.batch.Events, i); ok && timeFirst <= t && t < timeEnd {
			newest = max(newest, t)
		}
		j.times = append(j.times, newest)
	}
}

// start starts the clock at the first time that an event has. The years before were no time
// in which anything fell due.
func (a *alerting) start() {
	for _, t := range a.times {
		if t > 0 {
			a.now, a.next, a.cleared = t, t, t
			return
		}
	}
}

// advance moves the clock to the time of an event of the batch. Before that come the ticks
// of all seconds up to it in which there is something to do: a tick follows the results of
// its second.
func (a *alerting) advance(event int) {
	t := a.times[event]
	if t <= a.now {
		return
	}
	if a.now == 0 {
		a.start()
	}
	for {
		at, due := a.pipeline.Next()
		if at = max(at, a.next); !due || at >= t {
			break
		}
		if a.tick(at) > 0 || t-a.next < longGap {
			continue
		}
		if at, due = a.pipeline.Wake(at); !due { // what is due is held
			at = t
		}
		a.next = max(a.next, min(at, t))
	}
	if last := t - 1; last >= a.next && last-a.cleared >= clearEvery {
		a.tick(last)
		a.cleared = last
	}
	a.now, a.next = t, max(a.next, t)
}

// tick returns how many records came out.
func (a *alerting) tick(at int64) int {
	ticked := a.pipeline.Tick(at, func(r graph.Record) { a.record(r, at) })
	a.next = at + 1
	a.ticks++
	return ticked.Records()
}

// last runs the tick of the last second, which also tells of the incidents that still wait.
func (a *alerting) last() {
	a.pipeline.Last(a.now, false, func(r graph.Record) { a.record(r, a.now) })
}

func (a *alerting) record(r graph.Record, at int64) {
	if r.Kind() == incident.KindIncident {
		a.aboutIncidents++
	} else {
		a.summaries++
	}
	a.tell(&a.page, r, at)
}

// process brings the results of an event to the pipeline, and leaves those that go on.
func (a *alerting) process(b *graph.Batch, event uint32) {
	a.advance(int(event))
	if a.now == 0 {
		a.untimed += uint64(len(a.set.Results))
	}
	o := a.pipeline.Process(&a.set, a.now)
	a.silenced += uint64(o.Silenced)
	a.folded += uint64(o.Folded)
	a.inhibited += uint64(len(o.Inhibited))
	a.unstored += uint64(o.Unstored)
	a.ungrouped += uint64(o.Ungrouped)
	a.evicted += uint64(o.Evicted)
	a.events, a.event = b.Events, int(event)
}

// alert brings the results of a batch to the pipeline, and writes what goes on and what the
// pipeline has to say.
func (e *evaluation) alert(j *job) error {
	b := &j.batch
	e.alerts.times = j.times
	for i := range b.Outcomes {
		if o := &b.Outcomes[i]; o.Kind != graph.Decoded || o.Results.Len() == 0 && o.Matches.Len() == 0 {
			continue
		}
		if err := e.alertLine(b, i); err != nil {
			return err
		}
	}
	if n := len(j.times); n > 0 {
		e.alerts.advance(n - 1)
	}
	return e.alerted()
}

// alerted writes what the pipeline has let pass and made since the last call.
func (e *evaluation) alerted() error {
	err := e.printer.write(&e.alerts.page, &e.total)
	e.alerts.empty()
	return err
}

// alertLine takes a line event by event.
func (e *evaluation) alertLine(b *graph.Batch, i int) error {
	a, o := e.alerts, &b.Outcomes[i]
	var firings []step.Firing
	if e.correlate != nil && o.Matches.Len() > 0 {
		var err error
		if firings, err = e.correlate.count(b, i); err != nil {
			e.total.fail(step.Poisoned{Line: i, Cause: err})
			return nil
		}
	}
	for n := o.Results.From; n < o.Results.To || len(firings) > 0; {
		fires := len(firings) > 0 && firings[0].Behind <= n
		var event uint32
		if fires {
			event = firings[0].Event
		} else {
			event = b.EventOf[n]
		}
		a.set.Results = a.set.Results[:0]
		for ; n < o.Results.To && b.EventOf[n] == event; n++ {
			a.set.Results = append(a.set.Results, graph.Result{Detection: b.Results.At(int(n))})
		}
		for ; len(firings) > 0 && firings[0].Event == event; firings = firings[1:] {
			a.set.Results = append(a.set.Results, graph.Result{Correlation: firings[0].Result})
		}
		a.process(b, event)
		if err := e.survivors(i); err != nil {
			return err
		}
	}
	return nil
}

// survivors renders what goes on of the event in hand, which line i has.
func (e *evaluation) survivors(i int) error {
	a := e.alerts
	end := a.end()
	err := e.isolate.Step(func() {
		for n := range a.set.Results {
			e.render(&a.page, &a.set.Results[n])
		}
	}, func() { a.truncate(end) })
	if err != nil {
		e.total.fail(step.Poisoned{Line: i, Cause: err})
		return nil
	}
	for n := range a.set.Results {
		if a.set.Results[n].Detection != nil {
			e.total.matches++
		} else {
			e.total.firings++
		}
	}
	if a.full() {
		return e.alerted()
	}
	return nil
}

// endAlerts runs the last tick.
func (e *evaluation) endAlerts() error {
	if e.alerts == nil {
		return nil
	}
	e.alerts.last()
	return e.alerted()
}
