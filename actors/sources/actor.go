package sources

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/sources/fetch"
)

// Produce makes an instance of the actor. The book is that of the one before.
func (s *Stage) Produce(actors.RestartState) actor.Actor { return &shell{Stage: s} }

// shell has fetched what the book says, and tells what came of it.
type shell struct {
	*Stage
	changed []string // sources whose current values have changed in this step
	stale   bool     // the snapshot is
}

// Detail is what the actor's record shows beside the common members.
type Detail struct {
	Declared int `json:"declared"`
	InFlight int `json:"in_flight"`
}

// Receive takes what came of fetches, what subscriptions, files and clients say, and the
// time.
func (a *shell) Receive(c actor.Context) {
	now := time.Now()
	switch m := c.Message().(type) {
	case *mailbox.Run[any]:
		for message := range m.All() {
			a.take(message, now)
		}
	case outcome:
		a.finish(m, now)
	case resolve:
		c.Respond(a.resolve(m.entry))
	case commit:
		a.changed, a.stale = append(a.changed, a.book.commit(m.round)...), true
		c.Respond(committed{})
	case actors.Detail:
		c.Respond(Detail{len(a.book.entries), a.book.running})
	case mailbox.Drain:
		a.stopAlarm()
		return
	}
	a.turn(now)
}

// take takes an element of the lane.
func (a *shell) take(message any, now time.Time) {
	switch m := message.(type) {
	case pushed:
		a.receive(m, now)
	case forget:
		a.book.forget(m.entry)
		a.rows.drop(m.entry.ID, m.told)
	case due:
		a.alarmAt = time.Time{}
		a.book.due(now)
	case noticed:
		for _, e := range m.entries {
			a.book.notice(e, now)
		}
	case begun:
		a.book.begin(now)
	case asked:
		a.book.gather(m.round)
	case controlled:
		if m.entry == nil {
			a.book.all()
		} else {
			a.book.want(m.entry, request{refresh: true})
		}
	}
}

// resolve has a source fetched, or all, unless that is under way.
func (a *shell) resolve(e *entry) Resolution {
	switch {
	case e == nil && a.book.all():
		return Accepted
	case e == nil || e.busy():
		return Pending
	}
	a.book.want(e, request{refresh: true})
	return Accepted
}

// finish takes the outcome of a fetch.
func (a *shell) finish(o outcome, now time.Time) {
	f := a.book.finish(o, now)
	if !o.aborted {
		a.note(o, f, now)
	}
	for _, r := range f.finished {
		close(r.done)
	}
}

const faultyMessages = "messages of a source are no values, its value stays"

// receive takes what came of messages. Those that are no values are told once in a while.
func (a *shell) receive(p pushed, now time.Time) {
	a.countMessages(p, now)
	if p.JSON != nil {
		f := a.book.receive(p.entry, p.JSON, p.id)
		a.apply(p.entry, f, now)
		a.log.Debug("source resolved", "source", p.entry.ID, "changed", f.changed, "bytes", len(p.JSON), "messages", p.Messages())
	}
	if p.Err == nil {
		return
	}
	faulty := p.Messages() - p.Values
	if held, ok := a.faulty.Allow(p.entry.ID, faulty, now); ok {
		a.log.Warn(faultyMessages, "source", p.entry.ID, "messages", held+faulty, "err", p.Err.Text())
	}
}

// apply stores and shows what an outcome has changed.
func (a *shell) apply(e *entry, f effect, now time.Time) {
	switch {
	case f.stored:
		a.rows.store(e.Declaration, e.last, now)
	case f.value.basis == fresh:
		a.rows.again(e.ID)
	}
	if f.changed {
		a.changed = append(a.changed, e.ID)
	}
	a.stale = a.stale || f.shown
}

// note counts, stores and logs what came of an outcome.
func (a *shell) note(o outcome, f effect, now time.Time) {
	a.count(o, f, now)
	a.apply(o.entry, f, now)
	attrs := []any{"source", o.entry.ID, "changed", f.changed}
	if o.failure != nil {
		attrs = append(attrs, "err", o.failure.Text())
	}
	switch {
	case o.failure == nil:
		a.log.Debug("source resolved", append(attrs, "bytes", len(f.value.json), "took", o.took)...)
	case f.kept:
		a.log.Warn("source not resolved, its value stays", attrs...)
	case f.value.basis == cached:
		a.log.Warn("source not resolved, the last value is used", attrs...)
	case f.value.basis == fallback:
		a.log.Warn("source not resolved, the default is used", attrs...)
	case o.entry.Required:
		a.log.Error("required source not resolved", attrs...)
	default:
		a.log.Warn("source not resolved, pipelines go on without a value", attrs...)
	}
}

// turn begins the fetches that may run now, shows what has changed, and sets the alarm.
func (a *shell) turn(now time.Time) {
	for _, e := range a.book.start() {
		a.pool.Start(1, a.job(e, e.last, e.lastID, e.validators))
	}
	if a.stale {
		a.snapshot.Store(a.book.snapshot())
		a.stale = false
	}
	if len(a.changed) > 0 {
		a.o.Changed(a.changed)
		a.changed = nil
	}
	a.setAlarm(now)
}

// setAlarm has the actor told when the time of a source has come.
func (a *shell) setAlarm(now time.Time) {
	at := a.book.wake()
	if at.Equal(a.alarmAt) {
		return
	}
	a.stopAlarm()
	if a.alarmAt = at; !at.IsZero() {
		a.alarm = time.AfterFunc(at.Sub(now), func() { a.tell(due{}) })
	}
}

func (a *shell) stopAlarm() {
	if a.alarm != nil {
		a.alarm.Stop()
	}
}

// job fetches a source of which last, with its validators, is known.
func (s *Stage) job(e *entry, last []byte, lastID identity, validators fetch.Validators) mailbox.Job {
	return func(ctx context.Context, _ int) any {
		begin := time.Now()
		o := outcome{entry: e}
		known := &validators
		if last == nil || validators == (fetch.Validators{}) {
			known = nil
		}
		value, err := s.fetch(ctx, e.Declaration, known)
		o.took = time.Since(begin)
		if ctx.Err() != nil {
			o.aborted = true
			err = context.Cause(ctx)
		}
		switch {
		case value.NotModified:
			value.JSON, o.id = last, lastID
			if value.Validators == (fetch.Validators{}) {
				value.Validators = validators
			}
		case err == nil && !value.Pending:
			o.id = identityOf(value.JSON) // here, where the actor does not wait for it
		}
		o.value, o.failure = value, errorOf(e.Declaration, err)
		return o
	}
}

// fetch turns a panic into an error.
func (s *Stage) fetch(ctx context.Context, d *fetch.Declaration, known *fetch.Validators) (v fetch.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("fetch panicked", "source", d.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			v, err = fetch.Value{}, errors.New("the fetch panicked; the log has more")
		}
	}()
	return s.o.Fetcher.Fetch(ctx, d, known)
}
