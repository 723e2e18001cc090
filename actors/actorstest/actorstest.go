// Package actorstest is for tests of shells: a real actor system that ends with
// the test, an outlet that records, and a log that remembers.
package actorstest

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
)

// System starts an actor system that is stopped at the end of the test. Inside a
// bubble of virtual time it belongs to the bubble.
func System(tb testing.TB, o actors.Options) *actors.System {
	tb.Helper()
	s := actors.NewSystem(o)
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			tb.Errorf("stop the actor system: got %v, want nil", err)
		}
		time.Sleep(2 * time.Millisecond) // the library's dead letter throttle ends by itself
	})
	return s
}

// Metrics makes the series of a stage in a registry of their own.
func Metrics[M any](tb testing.TB, register func(prometheus.Registerer) (M, error)) M {
	tb.Helper()
	m, err := register(prometheus.NewRegistry())
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// Recorder is an outlet that keeps what it is given. It can be told to take no
// more, and is safe for concurrent use.
type Recorder[T any] struct {
	// Units is the size of an element; nil counts each as one.
	Units func(T) int

	mu        sync.Mutex
	got       []T
	available int // units it still takes, -1 for any number
	waiters   []*waiting[T]
}

type waiting[T any] struct {
	run      []T
	admitted func()
}

// NewRecorder returns a recorder with room for everything.
func NewRecorder[T any]() *Recorder[T] { return &Recorder[T]{available: -1} }

// TryPut takes what there is room for.
func (r *Recorder[T]) TryPut(run []T) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiters) > 0 {
		return 0
	}
	return r.take(run)
}

// Park keeps the run until there is room for all of it.
func (r *Recorder[T]) Park(run []T, admitted func()) (takeBack func() []T) {
	r.mu.Lock()
	w := &waiting[T]{run: run, admitted: admitted}
	r.waiters = append(r.waiters, w)
	done := r.followUp()
	r.mu.Unlock()
	for _, f := range done {
		f()
	}
	return func() []T {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiters = slices.DeleteFunc(r.waiters, func(o *waiting[T]) bool { return o == w })
		left := w.run
		w.run = nil
		return left
	}
}

// Put is TryPut: a recorder without room does not make anybody wait.
func (r *Recorder[T]) Put(_ context.Context, run []T) (admitted int, err error) {
	return r.TryPut(run), nil
}

// SetAvailable says how many more units the recorder takes, -1 for any number.
func (r *Recorder[T]) SetAvailable(n int) {
	r.mu.Lock()
	r.available = n
	done := r.followUp()
	r.mu.Unlock()
	for _, f := range done {
		f()
	}
}

// Available is how many more units the recorder takes, of any number of bytes.
func (r *Recorder[T]) Available() (units, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.available < 0 {
		return math.MaxInt, math.MaxInt
	}
	return r.available, math.MaxInt
}

// All is a copy of what was taken so far.
func (r *Recorder[T]) All() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func (r *Recorder[T]) take(run []T) int {
	n := 0
	for ; n < len(run); n++ {
		units := 1
		if r.Units != nil {
			units = r.Units(run[n])
		}
		if r.available >= 0 && units > r.available {
			break
		}
		if r.available >= 0 {
			r.available -= units
		}
	}
	r.got = append(r.got, run[:n]...)
	return n
}

func (r *Recorder[T]) followUp() (admitted []func()) {
	for len(r.waiters) > 0 {
		w := r.waiters[0]
		w.run = w.run[r.take(w.run):]
		if len(w.run) > 0 {
			break
		}
		admitted = append(admitted, w.admitted)
		r.waiters = r.waiters[1:]
	}
	return admitted
}

// Log is a handler that remembers what was logged.
type Log struct {
	mu    sync.Mutex
	lines []string
}

// Logger returns a logger that writes to l, debug included.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Write takes one rendered record.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(line))
	return len(line), nil
}

// Matching returns the lines that contain every part.
func (l *Log) Matching(parts ...string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for _, line := range l.lines {
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) }) {
			found = append(found, line)
		}
	}
	return found
}
