package inputs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/parse"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/internal/await"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/ndjson"
)

// Environment is what inputs are opened with.
type Environment struct {
	Config  *config.Daemon
	Log     *slog.Logger
	In      io.Reader // standard input
	Parse   *parse.Stage
	Metrics *Metrics
	Over    <-chan struct{} // closed at the end of the drain

	claimed map[consumer]Spec // of a Set that is opened
}

// Intake is the way into parse for the lines of an input.
func (env Environment) Intake(s Spec, now func() time.Time) *parse.Intake {
	return env.Parse.IntakeOf(s.Number, s.Kind.Name, now)
}

// Set is the inputs of a daemon.
type Set struct {
	env  Environment
	all  []Input
	stop context.CancelFunc
	work sync.WaitGroup
}

// Input is one of a Set.
type Input struct {
	Spec
	Opened
}

// Open opens the inputs, in their order. When one cannot be opened, those before it are
// closed, and the error names it.
func Open(specs []Spec, env Environment) (*Set, error) {
	env.claimed = make(map[consumer]Spec)
	s := &Set{env: env, stop: func() {}}
	for _, spec := range specs {
		opened, err := spec.Kind.Open(env, spec)
		if err != nil {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			return nil, errors.Join(fmt.Errorf("--input %s: %w", spec, err), s.Close(ctx))
		}
		s.all = append(s.all, Input{Spec: spec, Opened: opened})
	}
	return s, nil
}

// All are the inputs in their order.
func (s *Set) All() []Input { return s.all }

// Pushed takes the events that requests bring; nil when no input does.
func (s *Set) Pushed() *ndjson.Intake {
	for _, in := range s.all {
		if in.Pushed != nil {
			return in.Pushed
		}
	}
	return nil
}

// Positions are the accounts of the inputs that deliver again.
func (s *Set) Positions() (all []sources.Positions) {
	for _, in := range s.all {
		if r, ok := in.Source.(sources.Redelivering); ok {
			all = append(all, r.Positions())
		}
	}
	return all
}

// Status tells how the inputs stand that read from a server and say so; nothing when there
// is none. It may be called from any goroutine.
func (s *Set) Status() []actors.Member {
	var all []sources.Connection
	for _, in := range s.all {
		if c, ok := in.Source.(sources.Connected); ok {
			now := c.Connection()
			now.Input = in.String()
			all = append(all, now)
		}
	}
	if all == nil {
		return nil
	}
	return []actors.Member{{Name: "inputs", Value: all}}
}

// Streams are those that can be replayed.
func (s *Set) Streams() (all []string) {
	for _, in := range s.all {
		if r, ok := in.Source.(interface{ Stream() string }); ok {
			all = append(all, r.Stream())
		}
	}
	return all
}

// Start runs the inputs until they end or Stop is called. ended is called once, when
// every input has ended; never while there is one that requests bring events to.
func (s *Set) Start(ended func()) {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	var running sync.WaitGroup
	for _, in := range s.all {
		s.env.Log.Info("source started", "source", in.String())
		if in.Source == nil {
			continue
		}
		running.Add(1)
		s.work.Go(func() {
			defer running.Done()
			if err := in.Source.Run(ctx, s.env.Intake(in.Spec, time.Now)); err != nil {
				s.env.Log.Warn("source ended", "source", in.String(), "err", err)
				return
			}
			s.env.Log.Info("source ended", "source", in.String())
		})
	}
	if s.Pushed() == nil {
		s.work.Go(func() { running.Wait(); ended() })
	}
}

// Stop has the inputs hand over nothing more, and waits for none of them.
func (s *Set) Stop() { s.stop() }

// Wait returns when the inputs have ended that Start began with.
func (s *Set) Wait() { s.work.Wait() }

// lateBy is how long behind its context an input may take to close.
const lateBy = 100 * time.Millisecond

// Close has inputs that deliver again acknowledge what is due, for as long as ctx lasts,
// and lets all go.
func (s *Set) Close(ctx context.Context) error {
	errs := make([]error, len(s.all))
	var closing sync.WaitGroup
	for i, in := range s.all {
		shut := func() error { return nil }
		switch source := in.Source.(type) {
		case sources.Redelivering:
			shut = func() error { return source.Close(ctx) }
		case io.Closer: // it may never have run
			shut = source.Close
		}
		closing.Go(func() {
			if err := shut(); err != nil {
				errs[i] = fmt.Errorf("close input %s: %w", in.Spec, err)
			}
		})
	}
	closed := make(chan struct{})
	go func() { closing.Wait(); close(closed) }()
	if !await.Done(ctx, closed, lateBy) {
		return errors.New("an input did not close in time")
	}
	return errors.Join(errs...)
}
