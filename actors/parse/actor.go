package parse

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/filter"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/graph/step"
)

// shell is the actor: it forms batches and has them decoded. Its pool gives them
// back in order.
type shell struct{ *Stage }

// decoded is a batch on its way back from a worker.
type decoded struct {
	batch   *graph.Batch
	outcome step.Decoded
}

// Produce makes an instance of the actor.
func (s *Stage) Produce(actors.RestartState) actor.Actor { return &shell{Stage: s} }

// Receive does one thing at a time and waits for nothing.
func (s *shell) Receive(c actor.Context) {
	now := time.Now()
	switch m := c.Message().(type) {
	case *mailbox.Run[graph.Line]:
		s.form(m, now)
	case *decoded:
		s.merge(m, now)
	case Publish:
		s.publish(m.Set, now)
		c.Respond(Published{})
	case Cut:
		s.epoch = m.Barrier.Enter(s.epoch)
		s.Export(m.Barrier, nil)
		b := s.batch(now)
		b.Barrier = m.Barrier
		s.empty(b)
		c.Respond(CutMade{})
	case actors.Detail:
		c.Respond(Detail{
			BatchSize:   min(s.o.BatchSize, s.Lane().Stats().Capacity),
			ParseErrors: s.metrics.parseErrors.Load(), Quarantined: s.Cell().Quarantined(),
		})
	}
}

// publish stamps the batches from now on with a set. One without lines tells the
// stages behind, if none is on its way that can.
func (s *shell) publish(set *graph.RuleSet, now time.Time) {
	s.set = set
	if s.last != nil && s.last.Renew(set) {
		return
	}
	b := s.batch(now)
	b.Set, b.Publication = nil, graph.NewPublication(set)
	s.last = b.Publication
	s.empty(b)
}

// batch returns an empty batch with the next number and the newest rule set.
func (s *shell) batch(now time.Time) *graph.Batch {
	b := s.batches.Get().(*graph.Batch)
	b.Seq, b.Set, b.Arrival = s.seq, s.set, now.Unix()
	s.seq++
	s.last = nil
	return b
}

// form makes a batch of lines and gives it to a worker.
func (s *shell) form(run *mailbox.Run[graph.Line], now time.Time) {
	b := s.batch(now)
	b.Lines = run.TakeInto(b.Lines)
	lines := b.Lines
	b.Timing.Taken = now
	for i := range lines {
		_, held := graph.SizeOfLine(lines[i])
		b.Bytes += held
		lines[i].Token = lines[i].Token.In(s.epoch)
	}
	s.pool.Start(len(lines), func(_ context.Context, slot int) any {
		begin := time.Now()
		d := &decoded{batch: b, outcome: s.steps[slot].Batch(s.pool.Isolate(slot), b)}
		b.Timing.Parse = time.Since(begin)
		return d
	})
	s.metrics.batchSize.Observe(float64(len(lines)))
}

// empty sends a batch without lines, behind those that are being decoded.
func (s *shell) empty(b *graph.Batch) {
	s.pool.Start(0, func(context.Context, int) any { return &decoded{batch: b} })
}

// skip tells of n lines that could not be decoded. line is the last of them, of which only
// the outline is logged.
func (s *shell) skip(unread *graph.Line, n int, now time.Time) {
	line, from := unread.Raw, &s.o.Inputs[unread.Input]
	s.o.Log.Debug("lines not decoded", "lines", n, "begins", string(line[:min(len(line), 64)]))
	held, ok := s.loss.Allow("undecoded", n, now)
	if !ok {
		return
	}
	attrs := []any{"lines", held + n, "source", from.Source, "format", from.Decoder.Format, "length", len(line), "outline", format.Outline(line)}
	if fault, found := format.FindFault(line, false); found && from.Decoder.Format.Values() {
		attrs = append(attrs, "offset", fault.Offset, "fault", fault.Kind)
	}
	text, keeps := "lines could not be decoded and are lost", "--dlq keeps those that are not"
	if s.o.DeadLetters != nil {
		text, keeps = "lines could not be decoded and are dead letters", ""
	}
	says := from.setting() + " says how lines are written"
	if unread.Structured {
		says = "" // it is as its protocol has it
		keeps = strings.Replace(keeps, "those that are not", "what could not be decoded", 1)
	}
	if hint := strings.Trim(says+"; "+keeps, "; "); hint != "" {
		attrs = append(attrs, "hint", hint)
	}
	s.o.Log.Warn(text, attrs...)
}

// suspect counts lines that begin like JSON and were taken as text, and says now and
// then what the last one's fault is, but never its text.
func (s *shell) suspect(d *decoded, now time.Time) {
	n := d.outcome.Suspects
	s.metrics.suspects.Add(int64(n))
	line := &d.batch.Lines[d.outcome.Suspect]
	from := &s.o.Inputs[line.Input]
	held, ok := s.doubt.Allow(from.Decoder.Format.String(), n, now)
	if !ok {
		return
	}
	text, attrs := "lines begin like JSON but are not valid, and were taken as plain text", []any{"lines", held + n, "source", from.Source, "length", len(line.Raw)}
	if fault, found := format.FindFault(line.Raw, true); found {
		attrs = append(attrs, "offset", fault.Offset, "fault", fault.Kind)
	}
	if from.Decoder.Format == format.Syslog {
		text = "lines begin like JSON and have no header of syslog, and were taken as plain text"
		attrs = append(attrs, "hint", "set "+from.setting()+" to auto or json")
	}
	s.o.Log.Warn(text, attrs...)
}

// maxFailure is how many bytes of an error of the event filter are logged.
const maxFailure = 256

// filtered counts lines that the event filter has filtered in part only, and says now and
// then what it met. The error of a program may show values, so it is told at debug.
func (s *shell) filtered(t filter.Tally, now time.Time) {
	if t.Failed > 0 {
		s.metrics.filterErrors.Add(int64(t.Failed))
		if s.o.Log.Enabled(context.Background(), slog.LevelDebug) { // the text may be long to make
			text := t.Failure.Error()
			s.o.Log.Debug("event filter failed, and what it brought before stands", "lines", t.Failed, "err", text[:min(len(text), maxFailure)])
		}
	}
	if t.Cut == 0 {
		return
	}
	s.metrics.filterCuts.Add(int64(t.Cut))
	if held, ok := s.cut.Allow("", t.Cut, now); ok {
		s.o.Log.Warn("event filter went beyond its bounds and was ended, and what it brought before stands", "lines", held+t.Cut,
			"err", t.Bound, "hint", "simplify --jq or --jsonpath, or send shorter lines")
	}
}

// emptied counts lines of which the event filter left no event. While it leaves none of any
// line, since the start or for as long as warnings pause, a warning says so.
func (s *shell) emptied(d *decoded, now time.Time) {
	n := d.outcome.Empty
	s.metrics.filterEmpty.Add(int64(n))
	if d.batch.Events.Len() > 0 {
		s.kept = now
		return
	}
	if n == 0 || now.Sub(s.kept) < doubtPause {
		return
	}
	if held, ok := s.barren.Allow("", n, now); ok {
		s.o.Log.Warn("event filter leaves no event of any line", "lines", held+n,
			"hint", "sluice engine eval --jq or --jsonpath shows what becomes of a line")
	}
}

// merge takes a decoded batch back, counts and sends it on.
func (s *shell) merge(d *decoded, now time.Time) {
	if n := d.outcome.Undecodable; n > 0 {
		s.metrics.parseErrors.Add(int64(n))
		s.skip(&d.batch.Lines[d.outcome.Unread], n, now)
	}
	if d.outcome.Suspects > 0 {
		s.suspect(d, now)
	}
	if s.filter != nil {
		s.filtered(s.filter.Take(), now)
		s.emptied(d, now)
	}
	for _, p := range d.outcome.Poisoned {
		line := d.batch.Lines[p.Line]
		s.Quarantine(line.Raw, s.Open().Token(line.Token), p.Cause)
	}
	d.batch.Timing.DecodeMerge = time.Since(now)
	s.next.Push(d.batch)
}
