package evaluate

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// shell is the actor: it gives batches to workers. Its pool gives them back in
// order.
type shell struct{ *Stage }

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
	case *judging:
		s.finish(m)
	case actors.Detail:
		c.Respond(Detail{
			DetectionRules: len(s.set.Engine.Rules()), Rejected: s.set.Rejected, Generation: s.set.Generation,
			BatchesInFlight: s.pool.Busy(), Quarantined: s.Cell().Quarantined(),
		})
	}
}

func (s *shell) start(b *graph.Batch) {
	s.set = b.Set
	j := &judging{batch: b}
	units, _ := graph.SizeOfBatch(b)
	s.pool.Start(units, func(_ context.Context, slot int) any {
		if b.Events.Len() == 0 {
			return j // nothing to judge: an empty batch, or one of parse errors
		}
		begin := time.Now()
		judge := s.judge(slot, b.Set)
		j.worker, j.matching = judge.worker, judge.matching
		j.run(s.pool.Guard(slot))
		stats := j.worker.TakeStats()
		s.metrics.pruned.Add(stats.Pruned)
		s.metrics.unsourced.Add(stats.WithoutLogsource)
		if j.matching != nil {
			s.metrics.fallbacks.Add(j.matching.takeFallbacks())
		}
		b.Timing.Evaluate = time.Since(begin)
		return j
	})
}

func (s *shell) finish(j *judging) {
	b := j.batch
	for _, p := range j.poison {
		line := b.Lines[p.line]
		s.Quarantine(line.Raw, line.Token, p.cause)
	}
	s.Export(b.Barrier, nil)
	s.next.Push(b)
}
