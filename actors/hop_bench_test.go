package actors_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// end counts what arrives and says when everything has.
type end struct {
	left int
	done chan struct{}
}

// Eight empty stages pass batches on: what the actors themselves cost.
func BenchmarkEightEmptyStages(b *testing.B) {
	for _, size := range []int{1, 512} {
		for _, join := range []int{0, 512} {
			b.Run(fmt.Sprintf("lines=%d/join=%d", size, join), func(b *testing.B) { benchmarkChain(b, size, join) })
		}
	}
}

func benchmarkChain(b *testing.B, size, join int) {
	b.Helper()
	s := actorstest.System(b, actors.Options{})
	batch := &graph.Batch{Lines: make([]graph.Line, size)}
	last := &end{done: make(chan struct{})}
	var next mailbox.Outlet[*graph.Batch]
	var first *mailbox.Lane[*graph.Batch]
	for i := range graph.Stages() {
		name := graph.Stages()[len(graph.Stages())-1-i]
		cell := mailbox.NewCell(string(name), actors.KindStage, mailbox.CellOptions{})
		first = mailbox.NewLane(cell, mailbox.LaneOptions[*graph.Batch]{
			Capacity: 1024, Size: graph.SizeOfBatch, Join: join,
		})
		out := mailbox.NewOutbox(cell, next)
		if _, err := s.Spawn(cell, func(actors.RestartState) actor.Actor { return &passing{out: out, last: last} }); err != nil {
			b.Fatal(err)
		}
		next = first
	}
	const run = 64
	list := make([]*graph.Batch, run)
	for i := range list {
		list[i] = batch
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		last.left = run
		if _, err := first.Put(context.Background(), list); err != nil {
			b.Fatal(err)
		}
		<-last.done
		n += run
	}
	hops := float64(n * len(graph.Stages()))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/hops, "ns/hop")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*size), "ns/event")
}

// passing is a stage that does nothing, and at the end of the chain counts.
type passing struct {
	out  *mailbox.Outbox[*graph.Batch]
	last *end
}

func (a *passing) Receive(c actor.Context) {
	run, ok := c.Message().(*mailbox.Run[*graph.Batch])
	if !ok {
		return
	}
	for batch := range run.All() {
		if !a.out.Push(batch) {
			if a.last.left--; a.last.left == 0 {
				a.last.done <- struct{}{}
			}
		}
	}
}

// Every stage is full behind a stuck sink and still answers.
func BenchmarkAskBehindAStuckSink(b *testing.B) {
	s := actorstest.System(b, actors.Options{})
	sink := actorstest.NewRecorder[*item]()
	sink.SetAvailable(0)
	stages := chain(b, s, sink, 2, graph.Stages()...)
	ctx, stop := context.WithCancel(b.Context())
	full := make(chan struct{})
	go func() {
		defer close(full)
		_, _ = stages[0].lane.Put(ctx, items(1, 1000))
	}()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := mailbox.Ask[marked](ctx, stages[i%len(stages)].Client, stall{}); err != nil {
			b.Fatal(err)
		}
	}
	stop()
	<-full
	sink.SetAvailable(-1)
}
