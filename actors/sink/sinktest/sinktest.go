// Package sinktest holds the contract every sink's transport has to keep, checked
// behind the real sink actor: order, progress, dead letters, and every token
// settled exactly once.
package sinktest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

// Harness makes a transport under test.
type Harness struct {
	Kind sink.Kind
	// New returns a transport to a fresh destination, and a function that reads
	// the bodies that have arrived there.
	New func(t *testing.T, m modetest.Mode) (transport sink.Transport, arrived func() []string)
	// Break makes the destination fail until the returned function is called.
	// Nil for destinations that cannot be broken in a test.
	Break func(t *testing.T) (mend func())
}

// form is the suite's own: it declines some results, fails to render others, and
// writes the rest in its own way.
type form struct{}

const (
	declined = "declined"
	broken   = "broken"
)

var errBroken = errors.New("no such message")

func (form) Accepts(p graph.Payload) bool { return p.Result.Detection.Rule.Title != declined }
func (form) Native() bool                 { return false }

func (form) Append(dst []byte, p graph.Payload, _ *graph.Message) ([]byte, error) {
	title := p.Result.Detection.Rule.Title
	if title == broken {
		return append(dst, "half of it"...), errBroken
	}
	return append(dst, told(title)...), nil
}

// told is the message about a result.
func told(title string) string { return fmt.Sprintf(`{"told":%q}`, title) }

// Contract checks the transport behind a sink actor. Each case runs in virtual
// time, in which the transport must be able to run, and in real time with real
// files and sockets.
func Contract(t *testing.T, h Harness) {
	t.Helper()
	h.both(t, "messages arrive in order and settle once", func(b *bench) {
		b.t.Helper()
		var want []string
		for n := range 200 {
			want = append(want, b.put(n, titles(n, 1+n%3)...)...)
		}
		b.wantArrived(want)
		b.wantSettled(200)
	})
	h.both(t, "a drain delivers what is queued", func(b *bench) {
		b.t.Helper()
		var want []string
		for n := range 50 {
			want = append(want, b.put(n, titles(n, 2)...)...)
		}
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
		defer cancel()
		for _, d := range b.system.Drain(ctx) {
			if d.Expired || d.Lost > 0 {
				b.t.Errorf("%s: expired %t, lost %d, want a clean end", d.Actor, d.Expired, d.Lost)
			}
		}
		b.wantArrived(want)
		b.wantSettled(50)
	})
	h.both(t, "a result that cannot be rendered is a dead letter and costs nothing else", func(b *bench) {
		b.t.Helper()
		want := slices.Concat(
			b.put(0, "first", declined, broken, "behind a broken one"), b.put(1, declined), b.put(2, broken), b.put(3, "last"),
		)
		b.wantArrived(want)
		b.wantLetters([]string{broken}, []string{broken})
		b.wantSettled(4)
	})
	h.both(t, "sets that come together arrive in order, and each settles by itself", func(b *bench) {
		b.t.Helper()
		var want []string
		var letters [][]string
		for n := 0; n < 90; n += 30 {
			for i := range 30 {
				all := titles(n+i, 1+i%3)
				if i == 7 {
					all = append(all, declined, broken, "behind a broken one")
					letters = append(letters, []string{broken})
				}
				want = append(want, b.add(n+i, all...)...)
			}
			b.send()
		}
		b.wantArrived(want)
		b.wantLetters(letters...)
		b.wantSettled(90)
	})
	if h.Break == nil {
		return
	}
	h.retrying(t, "sets that come together and fail for a while arrive once", patient, func(b *bench) {
		b.t.Helper()
		mend := h.Break(b.t)
		want := slices.Concat(b.add(0, "a", "b"), b.add(1, "c"), b.add(2, "d"))
		b.send()
		b.mode.Until(b.t, func() bool { return b.detail().Retries >= 2 })
		mend()
		b.wantArrived(want)
		b.wantSettled(3)
		b.wantLetters()
	})
	h.both(t, "sets that come together and fail for good are dead letters of their own", func(b *bench) {
		b.t.Helper()
		mend := h.Break(b.t)
		b.add(0, "a", declined, "b")
		b.add(1, "c")
		b.add(2, "d", "e")
		b.send()
		b.wantLetters([]string{"a", "b"}, []string{"c"}, []string{"d", "e"})
		b.wantArrived(nil)
		b.wantSettled(3)
		mend()
		b.wantArrived(b.put(3, "f"))
		b.wantSettled(4)
	})
	h.retrying(t, "what fails for a while arrives once", patient, func(b *bench) {
		b.t.Helper()
		mend := h.Break(b.t)
		want := slices.Concat(b.put(0, "a", "b"), b.put(1, "c"))
		b.mode.Until(b.t, func() bool { return b.detail().Retries >= 2 })
		mend()
		b.wantArrived(want)
		b.wantSettled(2)
		b.wantLetters()
	})
	h.both(t, "what fails for good becomes dead letters and settles once", func(b *bench) {
		b.t.Helper()
		mend := h.Break(b.t)
		b.put(0, "a", declined, "b")
		b.put(1, "c")
		b.wantLetters([]string{"a", "b"}, []string{"c"})
		b.wantArrived(nil)
		b.wantSettled(2)
		mend()
		b.wantArrived(b.put(2, "d"))
		b.wantSettled(3)
	})
}

// both runs a case in both modes. The sink is closed before what the harness has its
// test clean up, such as the connections of Mode.Pipe.
func (h Harness) both(t *testing.T, name string, run func(*bench)) {
	t.Helper()
	h.retrying(t, name, sink.DefaultRetry(), run)
}

// patient retries for longer than a test can stand still on a busy machine.
var patient = sink.Retry{Max: 100, Base: 100 * time.Millisecond, Cap: 200 * time.Millisecond}

// retrying is both with a policy of its own.
func (h Harness) retrying(t *testing.T, name string, retry sink.Retry, run func(*bench)) {
	t.Helper()
	modetest.Both(t, name, func(t *testing.T, m modetest.Mode) {
		t.Helper()
		b := newBench(t, m, h, retry)
		defer b.close()
		run(b)
	})
}

// titles are those of a number of results of set n.
func titles(n, results int) (all []string) {
	for i := range results {
		all = append(all, fmt.Sprintf("result %d of set %d", i, n))
	}
	return all
}

// bench is a sink actor with a dead letter queue that keeps its records.
type bench struct {
	t           *testing.T
	mode        modetest.Mode
	system      *actors.System
	sink        *sink.Sink
	render      *step.Render
	ids         graph.DeliveryIDs
	arrived     func() []string
	deadLetters *Recorder
	bundles     []*graph.Bundle // added and not sent

	mu       sync.Mutex // guards settled
	settled  map[int]int
	receipts []*graph.Receipt
}

func newBench(t *testing.T, m modetest.Mode, h Harness, retry sink.Retry) *bench {
	t.Helper()
	transport, arrived := h.New(t, m)
	b := &bench{
		t: t, mode: m, arrived: arrived, settled: make(map[int]int), deadLetters: &Recorder{},
		render: step.NewRender([]graph.Form{form{}}),
	}
	b.system = actors.NewSystem(actors.Options{MaxRestarts: 10})
	metrics, err := sink.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	dlq := sink.NewDLQ(sink.DLQOptions{
		Kind: sink.KindStdout, Transport: b.deadLetters, Retry: sink.DefaultRetry(), BatchMax: 64, Capacity: 100, Metrics: metrics, Log: log,
	})
	b.sink, err = sink.New(sink.Options{
		Label: string(h.Kind), Kind: h.Kind, OnFull: sink.Block, Form: form{}, Transport: transport, Retry: retry,
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

func (b *bench) close() {
	if err := b.system.Stop(context.Background()); err != nil {
		b.t.Error(err)
	}
	if err := b.sink.Close(); err != nil {
		b.t.Error(err)
	}
}

// put offers set n with results of the given titles, as dispatch does with one that comes
// alone, and returns the bodies that have to arrive.
func (b *bench) put(n int, titles ...string) (want []string) {
	b.t.Helper()
	want = b.add(n, titles...)
	b.send()
	return want
}

// add renders set n behind those before it, and returns the bodies that have to arrive.
func (b *bench) add(n int, titles ...string) (want []string) {
	b.t.Helper()
	receipt := graph.NewReceipt(1, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.settled[n]++
	})
	b.receipts = append(b.receipts, receipt)
	set, results := &graph.ResultSet{Token: receipt.Token(0)}, new(result.Batch)
	for _, title := range titles {
		rule := result.NewRule(0, &ast.Rule{Meta: ast.Meta{Title: title}})
		set.Results = append(set.Results, graph.Result{Detection: results.Add(rule)})
		if title != declined && title != broken {
			want = append(want, told(title))
		}
	}
	if takers, _ := b.render.Piece(set, 0, b.ids.Next(), time.Now()); takers == 0 {
		set.Token.Settle()
	}
	if b.render.Add(set.Token) {
		b.bundles = append(b.bundles, b.render.Begun(0))
	}
	return want
}

// send offers the sets that were added, together.
func (b *bench) send() {
	b.t.Helper()
	b.render.Close()
	if _, err := b.sink.Lane().Put(b.t.Context(), b.bundles); err != nil {
		b.t.Fatal(err)
	}
	b.bundles = nil
}

func (b *bench) detail() sink.Detail {
	d, _ := b.system.Detail(b.t.Context(), b.sink.Cell().Name()).(sink.Detail)
	return d
}

// wantArrived waits for as many bodies as were not wanted before.
func (b *bench) wantArrived(want []string) {
	b.t.Helper()
	b.mode.Until(b.t, func() bool { return len(b.arrived()) >= len(want) })
	if got := b.arrived(); !slices.Equal(got, want) {
		b.t.Errorf("%d messages arrived, want %d in order:\n got %.300q\nwant %.300q", len(got), len(want), got, want)
	}
}

// wantLetters waits for dead letters, each with the native lines of results of the
// given titles.
func (b *bench) wantLetters(want ...[]string) {
	b.t.Helper()
	b.mode.Until(b.t, func() bool { return len(b.deadLetters.Lines()) >= len(want) })
	got := b.deadLetters.Lines()
	if len(got) != len(want) {
		b.t.Errorf("%d dead letters, want %d: %q", len(got), len(want), got)
		return
	}
	for i, letter := range got {
		if n := strings.Count(letter, `\"rule_title\":`); n != len(want[i]) {
			b.t.Errorf("a dead letter of %d native lines, want those of %q: %s", n, want[i], letter)
		}
		for _, title := range want[i] {
			if !strings.Contains(letter, fmt.Sprintf(`\"rule_title\":\"%s\"`, title)) {
				b.t.Errorf("a dead letter without the native line of %q: %s", title, letter)
			}
		}
	}
}

// wantSettled waits until so many sets have ended.
func (b *bench) wantSettled(sets int) {
	b.t.Helper()
	b.mode.Until(b.t, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.settled) >= sets
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	for n := range sets {
		if b.settled[n] != 1 || b.receipts[n].Overdrawn() != 0 {
			b.t.Errorf("set %d was settled %d times (%d beyond), want once", n, b.settled[n], b.receipts[n].Overdrawn())
		}
	}
}
