package evaluate

import (
	"cmp"
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/engine"
)

// shell is the actor: it gives batches to workers. Its pool gives them back in
// order.
type shell struct{ *Stage }

// detected is a batch on its way back from a worker.
type detected struct {
	batch   *graph.Batch
	outcome step.Detected
}

// Produce makes an instance of the actor.
func (s *Stage) Produce(actors.RestartState) actor.Actor { return &shell{Stage: s} }

// Detail is what the stage's record shows beside the common members.
type Detail struct {
	DetectionRules  int    `json:"detection_rules"`
	Rejected        int    `json:"rejected"`
	BatchesInFlight int    `json:"batches_in_flight"`
	Generation      uint64 `json:"generation"`
	Quarantined     int64  `json:"quarantined"`
}

// Receive starts work and sends what is finished.
func (s *shell) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *mailbox.Run[*graph.Batch]:
		for _, b := range m.Take() {
			s.start(b)
		}
	case *detected:
		s.finish(m)
	case mailbox.Drain:
		if s.shapes.Last() {
			s.tellUnread()
		}
	case actors.Detail:
		c.Respond(Detail{
			DetectionRules: len(s.set.Engine.Rules()), Rejected: s.set.Rejected, Generation: s.set.Generation,
			BatchesInFlight: s.pool.Busy(), Quarantined: s.Cell().Quarantined(),
		})
	}
}

func (s *shell) start(b *graph.Batch) {
	if b.Publication == nil {
		s.set = b.Set
	} else if set := b.Publication.Set(); set != nil {
		s.set = set
	}
	units, _ := graph.SizeOfBatch(b)
	s.pool.Start(units, func(_ context.Context, slot int) any {
		begin := time.Now()
		d := &detected{batch: b, outcome: s.steps[slot].Batch(s.pool.Isolate(slot), b)}
		s.metrics.pruned.Add(d.outcome.Pruned)
		s.metrics.unsourced.Add(d.outcome.WithoutLogsource)
		s.metrics.fallbacks.Add(d.outcome.Fallbacks)
		b.Timing.Evaluate = time.Since(begin)
		return d
	})
}

func (s *shell) finish(d *detected) {
	for _, p := range d.outcome.Poisoned {
		line := d.batch.Lines[p.Line]
		s.Quarantine(line.Raw, s.Open().Token(line.Token), p.Cause)
	}
	s.Export(d.batch.Barrier, nil)
	if m, ok := s.origins.Once(); ok {
		s.log.Warn("most results come from rules of products that the events are not from", misplacedAttrs(m)...)
	}
	if s.shapes.Once() {
		s.tellUnread()
	}
	d.batch.Events.Evaluated()
	s.next.Push(d.batch)
}

// tellUnread tells that all rules are skipped, or do not look at the fields that events
// have.
func (s *shell) tellUnread() {
	if sk, ok := s.shapes.Skipped(); ok {
		s.log.Warn("every rule is skipped for every event: no log source of a rule fits theirs", "rules", cmp.Or(sk.Rules, "no product named"),
			"events", cmp.Or(sk.Events, "no product stated"), "hint", "mend the log sources of the rules, or switch logsource_routing.enabled off")
		return
	}
	shape, ok := s.shapes.Unread()
	if !ok {
		return
	}
	attrs := unreadAttrs[shape]
	if shape != engine.Flat && s.shapes.Renamed(shape) {
		attrs = append(attrs[:3:3], attrs[3].(string)+" in place of the one that renames the fields of rules")
	}
	s.log.Warn("the rules do not look at the fields that the events have", attrs...)
}

// misplacedAttrs tell in a log line which products results and events are of, and what to
// do.
func misplacedAttrs(m step.Misplaced) []any {
	if m.Events == "" {
		return []any{"results", m.Results, "events", "no product stated", "hint", "say it with logsource_routing.enabled and logsource_routing.event_logsource, for example product: windows, or load fewer rules"}
	}
	return []any{"results", m.Results, "events", m.Events, "hint", "skip such rules with logsource_routing.enabled, or load fewer rules"}
}

// unreadAttrs tell in a log line which shape events have, and what to do.
var unreadAttrs = [engine.NumShapes][]any{
	engine.Rendered: {"events", "Windows records as JSON (Event.System, Event.EventData)", "hint", "add windows_evtx to pipelines"},
	engine.Shipped:  {"events", "Windows records of Winlogbeat or Elastic Agent (winlog.event_data)", "hint", "add ecs_windows to pipelines"},
	engine.Flat:     {"events", "Windows records with flat fields (EventID, Channel)", "hint", "leave out of pipelines the one that renames the fields of rules"},
}
