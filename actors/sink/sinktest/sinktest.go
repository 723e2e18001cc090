// Package sinktest holds the contract every sink's transport has to keep, checked
// behind the real sink actor: order, progress, dead letters, and every token
// settled exactly once.
package sinktest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/graph"
)

// Harness makes a transport under test.
type Harness struct {
	Kind sink.Kind
	// New returns a transport to a fresh destination, and a function that reads
	// the lines that have arrived there.
	New func(t *testing.T) (transport sink.Transport, arrived func() []string)
	// Break makes the destination fail until the returned function is called.
	// Nil for destinations that cannot be broken in a test.
	Break func(t *testing.T) (mend func())
}

// Contract checks the transport behind a sink actor. It runs in a bubble of
// virtual time.
func Contract(t *testing.T, h Harness) {
	t.Helper()
	t.Run("items arrive in order and settle once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, h)
			var want []string
			for i := range 200 {
				want = append(want, b.put(i, 1+i%3)...)
			}
			synctest.Wait()
			b.wantArrived(want)
			b.wantSettled(200)
		})
	})
	t.Run("a drain delivers what is queued", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, h)
			var want []string
			for i := range 50 {
				want = append(want, b.put(i, 2)...)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			for _, d := range b.system.Drain(ctx) {
				if d.Expired || d.Lost > 0 {
					t.Errorf("%s: expired %t, lost %d, want a clean end", d.Actor, d.Expired, d.Lost)
				}
			}
			b.wantArrived(want)
			b.wantSettled(50)
		})
	})
	if h.Break == nil {
		return
	}
	t.Run("what fails for a while arrives once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, h)
			mend := h.Break(t)
			want := slices.Concat(b.put(0, 2), b.put(1, 1))
			time.Sleep(150 * time.Millisecond) // the second attempt has failed
			mend()
			time.Sleep(10 * time.Second)
			b.wantArrived(want)
			b.wantSettled(2)
			b.wantLetters(0)
		})
	})
	t.Run("what fails for good becomes dead letters and settles once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, h)
			mend := h.Break(t)
			b.put(0, 2)
			b.put(1, 1)
			time.Sleep(10 * time.Second)
			b.wantArrived(nil)
			b.wantLetters(2)
			b.wantSettled(2)
			mend()
			want := b.put(2, 1)
			synctest.Wait()
			b.wantArrived(want)
			b.wantSettled(3)
		})
	})
}

// bench is a sink actor with a dead letter queue that keeps its records.
type bench struct {
	t           *testing.T
	system      *actors.System
	sink        *sink.Sink
	arrived     func() []string
	deadLetters *Recorder

	mu       sync.Mutex // guards settled
	settled  map[int]int
	receipts []*graph.Receipt
}

func newBench(t *testing.T, h Harness) *bench {
	t.Helper()
	transport, arrived := h.New(t)
	b := &bench{t: t, arrived: arrived, settled: make(map[int]int), deadLetters: &Recorder{}}
	b.system = actors.NewSystem(actors.Options{MaxRestarts: 10})
	t.Cleanup(func() {
		if err := b.system.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := b.sink.Close(); err != nil {
			t.Error(err)
		}
	})
	metrics, err := sink.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	dlq := sink.NewDLQ(sink.DLQOptions{
		Kind: sink.KindStdout, Transport: b.deadLetters, Retry: sink.DefaultRetry(), BatchMax: 64, Capacity: 100, Metrics: metrics, Log: log,
	})
	b.sink, err = sink.New(sink.Options{
		Label: string(h.Kind), Kind: h.Kind, OnFull: sink.Block, Transport: transport, Retry: sink.DefaultRetry(),
		BatchMax: 64, Capacity: 1000, DeadLetters: dlq.Lane(), Metrics: metrics, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.system.Spawn(dlq.Cell(), dlq.Produce); err != nil {
		t.Fatal(err)
	}
	if _, err := b.system.Spawn(b.sink.Cell(), b.sink.Produce); err != nil {
		t.Fatal(err)
	}
	return b
}

// put queues item n with so many lines and returns them.
func (b *bench) put(n, lines int) (texts []string) {
	b.t.Helper()
	receipt := graph.NewReceipt(1, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.settled[n]++
	})
	b.receipts = append(b.receipts, receipt)
	item := &graph.Item{Time: time.Now(), Token: receipt.Token(0)}
	for i := range lines {
		texts = append(texts, fmt.Sprintf(`{"item":%d,"line":%d}`, n, i))
		item.Lines = append(item.Lines, []byte(texts[i]+"\n"))
	}
	if _, err := b.sink.Lane().Put(b.t.Context(), []*graph.Item{item}); err != nil {
		b.t.Fatal(err)
	}
	return texts
}

func (b *bench) wantArrived(want []string) {
	b.t.Helper()
	if got := b.arrived(); !slices.Equal(got, want) {
		b.t.Errorf("%d lines arrived, want %d in order:\n got %.300q\nwant %.300q", len(got), len(want), got, want)
	}
}

func (b *bench) wantLetters(want int) {
	b.t.Helper()
	if got := len(b.deadLetters.Lines()); got != want {
		b.t.Errorf("%d dead letters, want %d: %q", got, want, b.deadLetters.Lines())
	}
}

func (b *bench) wantSettled(items int) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for n := range items {
		if b.settled[n] != 1 || b.receipts[n].Overdrawn() != 0 {
			b.t.Errorf("item %d was settled %d times (%d beyond), want once", n, b.settled[n], b.receipts[n].Overdrawn())
		}
	}
}

// Recorder is a transport that keeps what it is given.
type Recorder struct {
	mu    sync.Mutex // guards lines
	lines []string
}

// Write keeps the lines.
func (r *Recorder) Write(_ context.Context, lines [][]byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range lines {
		r.lines = append(r.lines, string(bytes.TrimSuffix(line, []byte("\n"))))
	}
	return len(lines), nil
}

// Abandon does nothing.
func (r *Recorder) Abandon() {}

// Reopen does nothing.
func (r *Recorder) Reopen() {}

// Close does nothing.
func (r *Recorder) Close() error { return nil }

// Lines are the lines kept so far, without line feeds.
func (r *Recorder) Lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// Split returns the lines of a text.
func Split(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}
