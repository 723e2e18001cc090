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

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/ratelog"
)

// detailTimeout bounds the question for an actor's detail.
const detailTimeout = time.Second

// The kinds of actors. The kind decides who supervises an actor.
const (
	KindStage   mailbox.Kind = "stage"
	KindSink    mailbox.Kind = "sink"
	KindControl mailbox.Kind = "control"
)

// parentOf is the supervisor of actors of a kind.
func parentOf(k mailbox.Kind) string {
	switch k {
	case KindStage:
		return "dataflow"
	case KindSink:
		return "delivery"
	default:
		return "control"
	}
}

// NameDLQ is the name of the actor that writes dead letters.
const NameDLQ = "dlq"

// MaxCapacity is the largest capacity of a data lane, in units.
const MaxCapacity = 1_000_000

// ErrCapacity is wrapped by the error of a capacity out of bounds.
var ErrCapacity = errors.New("mailbox capacity must be between 1 and 1000000")

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
	repeats     ratelog.Limit

	mu       sync.RWMutex // guards children
	children []*child     // in order of spawning
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
	s := &System{o: o, log: o.Log, parents: make(map[string]*parent), repeats: ratelog.Limit{Every: time.Minute}}
	s.library = newLibrary(o.Log)
	s.library.EventStream.Subscribe(s.observe)
	for _, k := range []mailbox.Kind{KindStage, KindSink, KindControl} {
		p := &parent{stopped: make(chan struct{})}
		props := actor.PropsFromProducer(func() actor.Actor { return &supervisor{stopped: p.stopped} },
			actor.WithSupervisor(strategy{s}))
		p.pid, _ = s.library.Root.SpawnNamed(props, parentOf(k)) // the name is free: nothing else was spawned
		s.parents[parentOf(k)] = p
	}
	return s
}

// Spawn starts the cell's actor under the supervisor of its kind. produce makes
// the first instance, and another one after each panic.
func (s *System) Spawn(cell *mailbox.Cell, produce func(RestartState) actor.Actor) (*mailbox.Client, error) {
	parent := s.parents[parentOf(cell.Kind())]
	c := &child{system: s, cell: cell, state: StateRunning}
	c.pid = actor.NewPID(parent.pid.Address, parent.pid.Id+"/"+cell.Name())
	if err := s.add(c); err != nil {
		return nil, err
	}
	cell.Attach(mailbox.Runtime{Library: s.library, PID: c.pid, Host: c, Log: s.log})
	props := actor.PropsFromProducer(func() actor.Actor { return c.incarnate(produce) }, actor.WithMailbox(cell.Mailbox))
	reply := make(chan error, 1)
	s.library.Root.Send(parent.pid, spawn{props: props, name: cell.Name(), reply: reply})
	if err := <-reply; err != nil {
		s.remove(c)
		return nil, fmt.Errorf("spawn %s: %w", cell.Name(), err)
	}
	return mailbox.NewClient(cell), nil
}

func (s *System) add(c *child) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.children {
		if other.cell.Name() == c.cell.Name() {
			return fmt.Errorf("spawn %s: %w", c.cell.Name(), actor.ErrNameExists)
		}
	}
	s.children = append(s.children, c)
	return nil
}

func (s *System) remove(c *child) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.children = slices.DeleteFunc(s.children, func(o *child) bool { return o == c })
}

// listed returns the actors as operators see them: stages in graph order, sinks
// in order of spawning, dlq, then control actors by name.
func (s *System) listed() []*child {
	s.mu.RLock()
	children := slices.Clone(s.children)
	s.mu.RUnlock()
	rank := func(c *child) int {
		switch {
		case c.cell.Kind() == KindStage:
			return graph.Stage(c.cell.Name()).Position()
		case c.cell.Name() == NameDLQ:
			return 200
		case c.cell.Kind() == KindSink:
			return 100
		default:
			return 300
		}
	}
	slices.SortStableFunc(children, func(a, b *child) int {
		if a.cell.Kind() == KindControl && b.cell.Kind() == KindControl {
			return cmp.Compare(a.cell.Name(), b.cell.Name())
		}
		return cmp.Compare(rank(a), rank(b))
	})
	return children
}

// find returns the first actor that is looked for, nil without one.
func (s *System) find(wanted func(*child) bool) *child {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if i := slices.IndexFunc(s.children, wanted); i >= 0 {
		return s.children[i]
	}
	return nil
}

func (s *System) byPID(pid *actor.PID) *child {
	return s.find(func(c *child) bool { return c.pid.Id == pid.Id })
}

// byName returns the named actor. Its error wraps ErrNoActor.
func (s *System) byName(name string) (*child, error) {
	c := s.find(func(c *child) bool { return c.cell.Name() == name })
	if c == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoActor, name)
	}
	return c, nil
}

// Client returns a client of the named actor.
func (s *System) Client(name string) (*mailbox.Client, error) {
	c, err := s.byName(name)
	if err != nil {
		return nil, err
	}
	return mailbox.NewClient(c.cell), nil
}

// Records describes all actors: stages in graph order, sinks, dlq, control
// actors by name.
func (s *System) Records() []Record {
	var list []Record
	for _, c := range s.listed() {
		list = append(list, c.record())
	}
	return list
}

// Record describes one actor.
func (s *System) Record(name string) (Record, error) {
	c, err := s.byName(name)
	if err != nil {
		return Record{}, err
	}
	return c.record(), nil
}

// Detail asks an actor for its detail object, for a second at most. It is nil
// when the actor does not answer.
func (s *System) Detail(ctx context.Context, name string) any {
	client, err := s.Client(name)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, detailTimeout)
	defer cancel()
	answer, err := mailbox.Ask[any](ctx, client, Detail{})
	if err != nil {
		return nil
	}
	return answer
}

// Resize changes the capacity of an actor's data lane and returns the new
// record. The error wraps ErrNoActor or ErrCapacity.
func (s *System) Resize(name string, capacity int) (Record, error) {
	c, err := s.byName(name)
	switch {
	case err != nil:
		return Record{}, err
	case capacity < 1 || capacity > MaxCapacity:
		return Record{}, fmt.Errorf("%w: %d", ErrCapacity, capacity)
	}
	c.cell.Resize(capacity)
	return c.record(), nil
}

// Saved tells the supervisor that a save has become the current one: its views
// are what an actor with suspect state starts from.
func (s *System) Saved(exports map[graph.Stage]any, at time.Time) {
	for name, view := range exports {
		if c, err := s.byName(string(name)); err == nil {
			c.mu.Lock()
			c.export, c.exported = view, at
			c.mu.Unlock()
		}
	}
}

// DeadLetters is the number of messages that found no actor.
func (s *System) DeadLetters() int64 { return s.deadLetters.Load() }

// Suspended returns the names of the actors whose restart budget is used up.
func (s *System) Suspended() []string {
	var names []string
	for _, c := range s.listed() {
		if c.suspended() {
			names = append(names, c.cell.Name())
		}
	}
	return names
}

// stopLate is how much longer than ctx Stop waits: a process that stood still has used up
// time that its actors did not have.
const stopLate = 100 * time.Millisecond

// Stop stops every actor that still runs, without draining, and the system. It
// waits until a moment behind the end of ctx for actors that are inside a step.
func (s *System) Stop(ctx context.Context) error {
	for _, c := range s.listed() {
		c.cell.Close()
	}
	for _, p := range s.parents {
		s.library.Root.Stop(p.pid)
	}
	late := make(chan struct{})
	defer context.AfterFunc(ctx, func() { time.AfterFunc(stopLate, func() { close(late) }) })()
	var err error
	for name, p := range s.parents {
		select {
		case <-p.stopped:
			continue
		case <-late:
		}
		select {
		case <-p.stopped:
		default:
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
