package sink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/graph"
)

// gate is a transport that takes nothing until it is opened.
type gate struct {
	mu    sync.Mutex // guards lines
	lines []string
	open  chan struct{}
}

func (g *gate) Write(ctx context.Context, messages []graph.Message) (int, error) {
	select {
	case <-g.open:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range messages {
		g.lines = append(g.lines, string(m.Kind)+" "+string(m.Body))
	}
	return len(messages), nil
}

func (g *gate) Abandon()     {}
func (g *gate) Reopen()      {}
func (g *gate) Close() error { return nil }

func (g *gate) got() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.lines, ", ")
}

// losses collects what a sink of lines says of lost ones.
type losses struct {
	mu   sync.Mutex // guards causes
	errs []string
}

func (l *losses) lost(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err.Error())
}

func (l *losses) got() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errs
}

// newLines spawns a sink of lines with a queue of two.
func newLines(t *testing.T, policy OnFull, to Transport) (*Lines, *losses, *actors.System) {
	t.Helper()
	var log actorstest.Log
	lost := &losses{}
	l := NewLines(LinesOptions{
		Name: "audit", About: "audit", Kind: KindFile, OnFull: policy, Transport: to, Retry: unscaled(), BatchMax: 1, Capacity: 2,
		Lost: lost.lost, Log: log.Logger(),
	})
	system := actorstest.System(t, actors.Options{MaxRestarts: 10})
	if _, err := system.Spawn(l.Cell(), l.Produce); err != nil {
		t.Fatal(err)
	}
	return l, lost, system
}

func TestLinesLeaveInTheirOrder(t *testing.T) {
	for _, policy := range []OnFull{Drop, Block} {
		t.Run(string(policy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				to := &gate{open: make(chan struct{})}
				l, lost, system := newLines(t, policy, to)
				done := make([]bool, 6)
				for i := range done {
					wait := l.Offer(fmt.Append(nil, i))
					go func() { wait(t.Context()); done[i] = true }()
					synctest.Wait() // the first is in hand, two wait in the queue
				}
				wantWaiting := map[OnFull]string{Drop: "[true true true true true true]", Block: "[true true true false false false]"}[policy]
				if got := fmt.Sprint(done); got != wantWaiting {
					t.Errorf("offers are through: %s, want %s", got, wantWaiting)
				}
				close(to.open)
				synctest.Wait()
				want := map[OnFull]string{Drop: "audit 0, audit 1, audit 2", Block: "audit 0, audit 1, audit 2, audit 3, audit 4, audit 5"}[policy]
				if got := to.got(); got != want {
					t.Errorf("written %q, want %q", got, want)
				}
				wantLost := map[OnFull]int64{Drop: 3, Block: 0}[policy]
				if got := lost.got(); int64(len(got)) != wantLost || wantLost > 0 && got[0] != "queue full" {
					t.Errorf("lost %q, want %d by a full queue", got, wantLost)
				}
				if got, want := system.Detail(t.Context(), "audit"), (LinesDetail{Written: 6 - wantLost, Dropped: wantLost}); got != want {
					t.Errorf("detail %+v, want %+v", got, want)
				}
				if r, err := system.Record("audit"); err != nil || r.Kind != actors.KindControl || r.Mailbox.Capacity != 2 {
					t.Errorf("record %+v, %v, want a control actor with a capacity of 2", r, err)
				}
			})
		})
	}
}

func TestALineWaitsAsLongAsItsSenderDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &gate{open: make(chan struct{})}
		l, lost, system := newLines(t, Block, to)
		for i := range 3 {
			l.Offer(fmt.Append(nil, i))(t.Context())
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		gone, later := l.Offer([]byte("gone")), l.Offer([]byte("later"))
		gone(ctx)
		if got := lost.got(); len(got) != 1 || got[0] != "queue full: context deadline exceeded" {
			t.Errorf("lost %q, want the line of the sender that left", got)
		}
		close(to.open)
		later(t.Context())
		system.DrainControl(t.Context())
		if got, want := to.got(), "audit 0, audit 1, audit 2, audit later"; got != want {
			t.Errorf("written %q, want %q", got, want)
		}
		l.Offer([]byte("after the end"))(t.Context())
		if got := lost.got(); len(got) != 2 {
			t.Errorf("lost %q, want the line after the end, too", got)
		}
	})
}

func TestLinesThatFailAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &script{t: t, begin: time.Now(), answers: append(always(errors.New("disk full"), 4), answer{err: renderError{errors.New("condemned")}})}
		l, lost, system := newLines(t, Drop, to)
		for i := range 3 {
			l.Offer(fmt.Append(nil, i))(t.Context())
			time.Sleep(time.Minute)
		}
		if got, want := fmt.Sprintf("%q", lost.got()), `["disk full" "condemned"]`; got != want {
			t.Errorf("lost %s, want %s", got, want)
		}
		if got, want := system.Detail(t.Context(), "audit"), (LinesDetail{Written: 1, Dropped: 2}); got != want {
			t.Errorf("detail %+v, want %+v", got, want)
		}
	})
}

func TestTheEndOfADrainTellsWhatItLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, lost, system := newLines(t, Drop, &gate{open: make(chan struct{})})
		for i := range 3 {
			l.Offer(fmt.Append(nil, i))(t.Context())
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		system.DrainControl(ctx)
		if got := lost.got(); len(got) != 3 || got[0] != "drain timeout" {
			t.Errorf("lost %q, want all three by the end of the drain", got)
		}
	})
}
