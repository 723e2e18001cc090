package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/sink/stdout"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/natsconn"
)

// closeGrace bounds how long a destination may take to close. It is waited for in parts: when
// the process stands still meanwhile, a destination has the parts that are left.
const (
	closeGrace = time.Second
	closeParts = 10
)

// Outputs are the sinks of a process and its dead letter queue.
type Outputs struct {
	Sinks []*Sink
	DLQ   *DLQ     // nil without one
	Lines []*Lines // in the order of their options
}

// OutputsOptions describe the outputs. Stream, Metrics and Log are required.
type OutputsOptions struct {
	Config     Config
	Capacity   int            // of a queue
	Capacities map[string]int // of the queues that do not have Capacity, by actor
	Bytes      int            // of a queue
	Stream     io.Writer      // standard output
	Version    string         // of the build
	NATS       natsconn.Client
	Kafka      kafkaconn.Client
	Egress     egress.Policy // of webhooks
	Lines      []LineSink    // beside those of Config
	Metrics    *Metrics
	Log        *slog.Logger

	// Transport makes what writes to the destination of a spec; nil is Open.
	Transport func(Spec, Environment) (Transport, error)
}

// LineSink describes a sink of lines that another part of the configuration asks for.
type LineSink struct {
	Name     string // of the actor
	About    graph.Kind
	Spec     Spec
	Capacity int // unless OutputsOptions.Capacities has the actor
	Lost     func(err error)
	Ready    func(*Lines) // gets the sink when every output is open; nil is not called
}

// OpenOutputs opens every destination that is configured. On an error nothing stays
// open.
func OpenOutputs(o OutputsOptions) (_ *Outputs, err error) {
	out := &Outputs{}
	defer func() {
		if err != nil {
			_ = out.close()
		}
	}()
	if o.Transport == nil {
		o.Transport = Open
	}
	env := Environment{Stdout: stdout.NewStream(o.Stream), Now: time.Now, Pretty: o.Config.Pretty, Version: o.Version, Log: o.Log, NATS: o.NATS, Kafka: o.Kafka}
	var deadLetters DeadLetters
	if o.Config.DLQ != "" {
		if out.DLQ, err = o.openDLQ(env); err != nil {
			return nil, err
		}
		deadLetters = out.DLQ.Lane()
	}
	specs := o.Config.Specs(func(_ int, fault error) { err = fault })
	if err != nil {
		return nil, err
	}
	for i, label := range Labels(specs) {
		s, err := o.open(specs[i], label, env, deadLetters)
		if err != nil {
			return nil, fmt.Errorf("sink %s: %w", label, err)
		}
		out.Sinks = append(out.Sinks, s)
	}
	for _, line := range o.Lines {
		l, err := o.openLines(line, env)
		if err != nil {
			return nil, fmt.Errorf("sink %s: %w", line.Name, err)
		}
		out.Lines = append(out.Lines, l)
	}
	webhooks, err := o.openWebhooks(deadLetters)
	if err != nil {
		return nil, err
	}
	out.Sinks = append(out.Sinks, webhooks...)
	for i, line := range o.Lines {
		if line.Ready != nil {
			line.Ready(out.Lines[i])
		}
	}
	return out, nil
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func (o *OutputsOptions) retry() Retry {
	return Retry{Max: o.Config.RetryMax, Base: ms(o.Config.BackoffBaseMS), Cap: ms(o.Config.BackoffMaxMS)}
}

func (o *OutputsOptions) capacity(actor string) int {
	if n, ok := o.Capacities[actor]; ok {
		return n
	}
	return o.Capacity
}

// linger is how long a batch of a sink of kind k waits to fill.
func (o *OutputsOptions) linger(k Kind) time.Duration {
	if !k.row().linger {
		return 0
	}
	return ms(o.Config.BatchFlushMS)
}

func (o *OutputsOptions) openDLQ(env Environment) (*DLQ, error) {
	spec, _, err := ParseSpec(o.Config.DLQ, RoleDLQ)
	if err != nil {
		return nil, err
	}
	env.Label = labelDLQ
	t, err := o.Transport(spec, env)
	if err != nil {
		return nil, fmt.Errorf("dead letter queue: %w", err)
	}
	return NewDLQ(DLQOptions{
		Kind: spec.Kind, Transport: t, Retry: o.retry(), BatchMax: o.Config.BatchMax,
		Capacity: o.capacity(actors.NameDLQ), Bytes: o.Bytes, Metrics: o.Metrics, Log: o.Log,
	}), nil
}

func (o *OutputsOptions) open(spec Spec, label string, env Environment, deadLetters DeadLetters) (*Sink, error) {
	env.Label = label
	t, err := o.Transport(spec, env)
	if err != nil {
		return nil, err
	}
	s, err := New(Options{
		Label: label, Kind: spec.Kind, OnFull: spec.OnFull, Form: spec.Form(env), Transport: t, Retry: o.retry(), BatchMax: o.Config.BatchMax,
		Linger: o.linger(spec.Kind), Capacity: o.capacity("sink:" + label), Bytes: o.Bytes,
		DeadLetters: deadLetters, Metrics: o.Metrics, Log: o.Log,
	})
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return s, nil
}

func (o *OutputsOptions) openLines(s LineSink, env Environment) (*Lines, error) {
	env.Label = s.Name
	t, err := o.Transport(s.Spec, env)
	if err != nil {
		return nil, err
	}
	capacity, given := o.Capacities[s.Name]
	if !given {
		capacity = s.Capacity
	}
	return NewLines(LinesOptions{
		Name: s.Name, About: s.About, Kind: s.Spec.Kind, OnFull: s.Spec.OnFull, Transport: t, Retry: o.retry(), BatchMax: o.Config.BatchMax,
		Capacity: capacity, Bytes: o.Bytes, Lost: s.Lost, Log: o.Log,
	}), nil
}

// DeadLetters is the lane of the dead letter queue, nil without one.
func (out *Outputs) DeadLetters() actors.DeadLetters {
	if out.DLQ == nil {
		return nil
	}
	return out.DLQ.Lane()
}

// Totals are how many dead letters were written, and how many results were dropped: by a
// full queue, or given up where no dead letter could be written. lost are the latter.
func (out *Outputs) Totals() (deadLettered, dropped, lost int64) {
	for _, s := range out.Sinks {
		dropped += s.counters.dropped.total.Load()
		lost += s.counters.lost.Load()
	}
	if out.DLQ != nil {
		deadLettered = out.DLQ.counters.written.Load()
		lost += out.DLQ.counters.lost.Load()
	}
	return deadLettered, dropped + lost, lost
}

// Feature is the row of the sinks.
func (out *Outputs) Feature() actors.Feature {
	f := actors.Feature{
		Name: "sinks", Close: out.close,
		// Every reload makes file sinks open their paths again, as after a rotation.
		Components: []actors.Component{{Name: "sinks", Build: func(context.Context) (func(context.Context) error, error) {
			return func(context.Context) error { out.reopen(); return nil }, nil
		}}},
	}
	if out.DLQ != nil {
		f.Actors = append(f.Actors, out.DLQ)
	}
	for _, s := range out.Sinks {
		f.Actors = append(f.Actors, s)
	}
	for _, l := range out.Lines {
		f.Actors = append(f.Actors, l)
	}
	return f
}

func (out *Outputs) reopen() {
	for _, s := range out.Sinks {
		s.Reopen()
	}
	for _, l := range out.Lines {
		l.Reopen()
	}
	if out.DLQ != nil {
		out.DLQ.Reopen()
	}
}

// close closes every destination by itself: one whose disk does not answer delays
// neither the others nor the daemon.
func (out *Outputs) close() error {
	closers := make(map[string]func() error)
	for _, s := range out.Sinks {
		closers[s.Label()] = s.Close
	}
	for _, l := range out.Lines {
		closers[l.o.Name] = l.Close
	}
	if out.DLQ != nil {
		closers[actors.NameDLQ] = out.DLQ.Close
	}
	type closed struct {
		label string
		err   error
	}
	ends := make(chan closed, len(closers))
	for label, f := range closers {
		go func() { ends <- closed{label, f()} }()
	}
	var errs []error
	part := time.NewTimer(closeGrace / closeParts)
	defer part.Stop()
	for left := closeParts; len(closers) > 0 && left > 0; {
		select {
		case end := <-ends:
			delete(closers, end.label)
			errs = append(errs, end.err)
		case <-part.C:
			left--
			part.Reset(closeGrace / closeParts)
		}
	}
	if len(closers) > 0 {
		names := slices.Sorted(maps.Keys(closers))
		errs = append(errs, fmt.Errorf("not closed in time: %s", strings.Join(names, ", ")))
	}
	return errors.Join(errs...)
}
