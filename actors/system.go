package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/graph"
)

// ErrNoActor is wrapped by questions about a name that is no actor's.
var ErrNoActor = errors.New("no such actor")

// Options configure a System.
type Options struct {
	Log           *slog.Logger      // nil: nothing is logged
	MaxRestarts   int               // restarts of one actor within RestartWindow before it is suspended
	RestartWindow time.Duration     // 0: a minute
	OnSuspended   func(name string) // called when an actor's restart budget is used up; must not wait
}

// System runs the actors, restarts them, and knows what an operator may ask
// about them.
type System struct {
	o           Options
	log         *slog.Logger
	library     *actor.ActorSystem
	parents     map[string]*parent
	deadLetters atomic.Int64
	repeats     repeats

	mu    sync.RWMutex // guards cells
	cells []*Cell      // in order of spawning
}

type parent struct {
	pid     *actor.PID
	stopped chan struct{}
}

// NewSystem starts the actor system and its supervisors.
func NewSystem(o Options) *System {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.RestartWindow <= 0 {
		o.RestartWindow = time.Minute
	}
	s := &System{o: o, log: o.Log, parents: make(map[string]*parent)}
	s.library = newLibrary(o.Log)
	s.library.EventStream.Subscribe(s.observe)
	for _, k := range []Kind{KindStage, KindSink, KindControl} {
		p := &parent{stopped: make(chan struct{})}
		props := actor.PropsFromProducer(func() actor.Actor { return &supervisor{stopped: p.stopped} },
			actor.WithSupervisor(strategy{s}))
		p.pid, _ = s.library.Root.SpawnNamed(props, k.parent()) // the name is free: nothing else was spawned
		s.parents[k.parent()] = p
	}
	return s
}

func (s *System) root() *actor.RootContext { return s.library.Root }

// Spawn starts the cell's actor under the supervisor of its kind. produce makes
// the first instance, and another one after each panic.
func (s *System) Spawn(c *Cell, produce func(RestartState) actor.Actor) (*Client, error) {
	c.system, c.log = s, s.log
	if err := s.add(c); err != nil {
		return nil, err
	}
	props := actor.PropsFromProducer(func() actor.Actor { return c.incarnate(produce) },
		actor.WithMailbox(func() actor.Mailbox { return c.box }))
	reply := make(chan spawned, 1)
	s.root().Send(s.parents[c.kind.parent()].pid, spawn{props: props, name: c.name, reply: reply})
	child := <-reply
	if child.err != nil {
		s.remove(c)
		return nil, fmt.Errorf("spawn %s: %w", c.name, child.err)
	}
	c.pid = child.pid
	if c.tick != nil {
		c.tick.start()
	}
	return &Client{system: s, cell: c}, nil
}

func (s *System) add(c *Cell) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.cells {
		if other.name == c.name {
			return fmt.Errorf("spawn %s: %w", c.name, actor.ErrNameExists)
		}
	}
	s.cells = append(s.cells, c)
	return nil
}

func (s *System) remove(c *Cell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cells = slices.DeleteFunc(s.cells, func(o *Cell) bool { return o == c })
}

// listed returns the cells as operators see them: stages in graph order, sinks
// in order of spawning, dlq, then control actors by name.
func (s *System) listed() []*Cell {
	s.mu.RLock()
	cells := slices.Clone(s.cells)
	s.mu.RUnlock()
	rank := func(c *Cell) int {
		switch {
		case c.kind == KindStage:
			return graph.Stage(c.name).Position()
		case c.name == NameDLQ:
			return 200
		case c.kind == KindSink:
			return 100
		default:
			return 300
		}
	}
	slices.SortStableFunc(cells, func(a, b *Cell) int {
		if a.kind == KindControl && b.kind == KindControl {
			return cmp.Compare(a.name, b.name)
		}
		return cmp.Compare(rank(a), rank(b))
	})
	return cells
}

func (s *System) byName(name string) *Cell {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, c := range s.cells {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (s *System) byPID(pid *actor.PID) *Cell {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, c := range s.cells {
		if c.kind.parent()+"/"+c.name == pid.Id {
			return c
		}
	}
	return nil
}

// Client returns a client of the named actor.
func (s *System) Client(name string) (*Client, error) {
	c := s.byName(name)
	if c == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoActor, name)
	}
	return &Client{system: s, cell: c}, nil
}

// Records describes all actors: stages in graph order, sinks, dlq, control
// actors by name.
func (s *System) Records() []Record {
	now := time.Now()
	var list []Record
	for _, c := range s.listed() {
		list = append(list, c.record(now))
	}
	return list
}

// Record describes one actor.
func (s *System) Record(name string) (Record, error) {
	c := s.byName(name)
	if c == nil {
		return Record{}, fmt.Errorf("%w: %s", ErrNoActor, name)
	}
	return c.record(time.Now()), nil
}

// Detail asks an actor for its detail object, for a second at most. It is nil
// when the actor does not answer.
func (s *System) Detail(ctx context.Context, name string) any {
	c := s.byName(name)
	if c == nil {
		return nil
	}
	answer, err := (&Client{system: s, cell: c}).ask(ctx, Detail{}, detailTimeout)
	if err != nil {
		return nil
	}
	switch answer.(type) {
	case error, *actor.DeadLetterResponse:
		return nil
	}
	return answer
}

// Resize changes the capacity of an actor's data lane and returns the new
// record. The error wraps ErrNoActor or ErrCapacity.
func (s *System) Resize(name string, capacity int) (Record, error) {
	c := s.byName(name)
	switch {
	case c == nil:
		return Record{}, fmt.Errorf("%w: %s", ErrNoActor, name)
	case capacity < 1 || capacity > MaxCapacity:
		return Record{}, fmt.Errorf("%w: %d", ErrCapacity, capacity)
	case c.lane != nil:
		c.lane.resize(capacity)
	}
	return c.record(time.Now()), nil
}

// Saved tells the supervisor that a save has become the current one: its views
// are what an actor with suspect state starts from.
func (s *System) Saved(exports map[graph.Stage]any, at time.Time) {
	for name, view := range exports {
		if c := s.byName(string(name)); c != nil {
			c.life.mu.Lock()
			c.life.export, c.life.exported = view, at
			c.life.mu.Unlock()
		}
	}
}

// DeadLetters is the number of messages that found no actor.
func (s *System) DeadLetters() int64 { return s.deadLetters.Load() }

// Suspended returns the names of the actors whose restart budget is used up.
func (s *System) Suspended() []string {
	var names []string
	for _, c := range s.listed() {
		c.life.mu.Lock()
		if c.life.state == StateSuspended {
			names = append(names, c.name)
		}
		c.life.mu.Unlock()
	}
	return names
}

// Stop stops every actor that still runs, without draining, and the system. It
// waits until ctx is done for actors that are inside a step.
func (s *System) Stop(ctx context.Context) error {
	s.mu.RLock()
	cells := slices.Clone(s.cells)
	s.mu.RUnlock()
	for _, c := range cells {
		c.box.close()
	}
	var err error
	for name, p := range s.parents {
		s.root().Stop(p.pid)
		select {
		case <-p.stopped:
		case <-ctx.Done():
			err = errors.Join(err, fmt.Errorf("stop %s: %w", name, ctx.Err()))
		}
	}
	if !s.library.IsStopped() {
		s.library.Shutdown()
	}
	if s.DeadLetters() > 0 {
		time.Sleep(2 * deadLetterThrottle) // the library's goroutine for them ends by itself
	}
	return err
}
