package actors

import (
	"context"
	"sync"
	"time"

	"github.com/sluicehq/sluice/internal/await"
)

const (
	// drainGrace is how long an actor may take after the deadline to put aside what
	// it still holds.
	drainGrace = time.Second
	// stageGrace is the same for a stage, which has nowhere to put it, and sinkGrace
	// for a sink. What is left of the grace belongs to the dead letter queue.
	stageGrace = drainGrace / 2
	sinkGrace  = drainGrace * 9 / 10
	// handOver is how long sinks take, after the deadline, what the last stage is
	// just about to give them.
	handOver = drainGrace / 20
)

// Drained is how an actor ended.
type Drained struct {
	Actor   string
	Export  any  // its final export, nil without state and when it was abandoned
	Expired bool // the deadline passed before it was through
	Lost    int  // units left in its lane, which are not acknowledged
}

// Drain stops stages in graph order, then the sinks side by side, then the
// dead letter queue: each when its predecessors have stopped, its lane is empty
// and its workers are idle. When ctx ends, whoever is left stops side by side, so
// that a stage that is stuck does not take from the sinks the second in which they
// put aside what they hold; whoever is not through after that is abandoned. Nothing
// gets past a suspended stage, so the stages up to it do not wait for ctx. Control
// actors are left running.
func (s *System) Drain(ctx context.Context) []Drained {
	var stages, sinks, dlq []*child
	blocked := -1
	for _, c := range s.listed() {
		switch {
		case c.cell.Kind() == KindStage:
			if c.suspended() {
				blocked = len(stages)
			}
			stages = append(stages, c)
		case c.cell.Name() == NameDLQ:
			dlq = append(dlq, c)
		case c.cell.Kind() == KindSink:
			sinks = append(sinks, c)
		}
	}
	limits, release := newDrainLimits(ctx)
	defer release()
	ends := make([]Drained, len(stages)+len(sinks))
	var wg sync.WaitGroup
	drain := func(i int, c *child, turn <-chan struct{}, late time.Duration, l drainLimits) (ended <-chan struct{}) {
		done := make(chan struct{})
		wg.Go(func() {
			defer close(done)
			select {
			case <-turn:
			case <-l.soft.Done():
				select {
				case <-turn:
				case <-time.After(late):
				}
			}
			ends[i] = c.drain(l)
		})
		return done
	}
	before := make(chan struct{})
	close(before)
	var turn <-chan struct{} = before
	for i, c := range stages {
		l := limits
		if i <= blocked {
			l = limits.now()
		}
		l.grace = stageGrace
		turn = drain(i, c, turn, 0, l)
	}
	l := limits
	l.grace = sinkGrace
	for i, c := range sinks {
		drain(len(stages)+i, c, turn, handOver, l)
	}
	wg.Wait()
	for _, c := range dlq { // it has the rest of the grace to write what the sinks have just handed in
		ends = append(ends, c.drain(drainLimits{soft: limits.hard, hard: limits.hard}))
	}
	return ends
}

// DrainActor stops one actor, which nobody sends data to any more.
func (s *System) DrainActor(ctx context.Context, name string) (Drained, error) {
	c, err := s.byName(name)
	if err != nil {
		return Drained{}, err
	}
	limits, release := newDrainLimits(ctx)
	defer release()
	return c.drain(limits), nil
}

// DrainControl stops the control actors that still run, side by side, each when its
// lane is empty and its workers are idle. It is for the end, when nobody sends to them
// any more. When ctx ends, whoever is left puts aside what it holds.
func (s *System) DrainControl(ctx context.Context) {
	limits, release := newDrainLimits(ctx)
	defer release()
	var wg sync.WaitGroup
	for _, c := range s.listed() {
		if c.cell.Kind() == KindControl && !c.stopped() {
			wg.Go(func() { c.drain(limits) })
		}
	}
	wg.Wait()
}

// drainLimits are the deadline of a drain and its end, a grace later.
type drainLimits struct {
	soft, hard context.Context
	grace      time.Duration // of one actor, within the end
}

func newDrainLimits(ctx context.Context) (l drainLimits, release func()) {
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(drainGrace):
			cancel()
		case <-hard.Done():
		}
	})
	return drainLimits{soft: ctx, hard: hard, grace: drainGrace}, func() { stop(); cancel() }
}

// now is the same drain for an actor that cannot get rid of what it has.
func (l drainLimits) now() drainLimits {
	over, cancel := context.WithCancel(l.soft)
	cancel()
	return drainLimits{soft: over, hard: l.hard, grace: l.grace}
}

// drain asks the actor to end and waits for it.
func (c *child) drain(l drainLimits) Drained {
	d := Drained{Actor: c.cell.Name()}
	ending := c.cell.Drain()
	if !await.Done(l.soft, ending.Done(), 0) {
		d.Expired = true
		ending.Expire()
		if !c.suspended() {
			select {
			case <-ending.Done():
			case <-l.hard.Done():
			case <-time.After(l.grace):
			}
		}
	}
	d.Export, d.Lost = ending.Finish()
	return d
}
