package daemon

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
	"github.com/sluicehq/sluice/actors/dispatch"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/stdout"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
)

// outputs are the sinks and the dead letter queue.
type outputs struct {
	sinks []*sink.Sink
	dlq   *sink.DLQ // nil when off
}

// openOutputs opens every destination. On an error nothing stays open.
func openOutputs(cfg *config.Daemon, specs []sink.Spec, stream io.Writer, m *sink.Metrics, log *slog.Logger) (_ *outputs, err error) {
	log = logging.Target(log, "sluice.sink")
	o := &outputs{}
	defer func() {
		if err != nil {
			_ = o.close()
		}
	}()
	out := stdout.NewStream(stream)
	retry := sink.Retry{
		Max: cfg.Output.RetryMax, Base: retryDelay(cfg.Output.BackoffBaseMS), Cap: retryDelay(cfg.Output.BackoffMaxMS),
	}
	capacity := func(name string) int {
		if n, ok := cfg.Mailboxes[name]; ok {
			return n
		}
		return cfg.Input.BufferSize
	}
	var deadLetters sink.DeadLetters
	if cfg.Output.DLQ != "" {
		spec, _, err := sink.ParseSpec(cfg.Output.DLQ, sink.RoleDLQ)
		if err != nil {
			return nil, configFault(err)
		}
		t, err := sink.Open(spec, out, time.Now)
		if err != nil {
			return nil, configFaultf("dead letter queue: %w", err)
		}
		o.dlq = sink.NewDLQ(sink.DLQOptions{
			Kind: spec.Kind, Transport: t, Retry: retry, BatchMax: cfg.Output.BatchMax,
			Capacity: capacity(actors.NameDLQ), Bytes: int(cfg.Input.BufferBytes), Metrics: m, Log: log,
		})
		deadLetters = o.dlq.Lane()
	}
	labels := sink.Labels(specs)
	for i, spec := range specs {
		t, err := sink.Open(spec, out, time.Now)
		if err != nil {
			return nil, configFaultf("sink %s: %w", labels[i], err)
		}
		s, err := sink.New(sink.Options{
			Label: labels[i], Kind: spec.Kind, OnFull: spec.OnFull, Form: spec.Form(cfg.Output.Pretty), Transport: t, Retry: retry, BatchMax: cfg.Output.BatchMax,
			Capacity: capacity("sink:" + labels[i]), Bytes: int(cfg.Input.BufferBytes),
			DeadLetters: deadLetters, Metrics: m, Log: log,
		})
		if err != nil {
			return nil, configFault(errors.Join(fmt.Errorf("sink %s: %w", labels[i], err), t.Close()))
		}
		o.sinks = append(o.sinks, s)
	}
	return o, nil
}

// deadLetters is the way to the dead letter queue, a nil interface when there is none.
func (o *outputs) deadLetters() actors.DeadLetters {
	if o.dlq == nil {
		return nil
	}
	return o.dlq.Lane()
}

// offered is what dispatch offers results to.
func (o *outputs) offered() []dispatch.Sink {
	out := make([]dispatch.Sink, 0, len(o.sinks))
	for _, s := range o.sinks {
		d := dispatch.Sink{Label: s.Label(), Form: s.Form(), To: s.Lane()}
		if s.Drops() {
			d.Dropped = s.Dropped
		}
		out = append(out, d)
	}
	return out
}

func (o *outputs) spawn(s *actors.System) error {
	if o.dlq != nil {
		if _, err := s.Spawn(o.dlq.Cell(), o.dlq.Produce); err != nil {
			return err
		}
	}
	for _, x := range o.sinks {
		if _, err := s.Spawn(x.Cell(), x.Produce); err != nil {
			return err
		}
	}
	return nil
}

// component makes file sinks open their paths again in every pass, as after a
// rotation.
func (o *outputs) component() actors.Component {
	return actors.Component{Name: "sinks", Build: func(context.Context) (func(context.Context) error, error) {
		return func(context.Context) error { o.reopen(); return nil }, nil
	}}
}

func (o *outputs) reopen() {
	for _, s := range o.sinks {
		s.Reopen()
	}
	if o.dlq != nil {
		o.dlq.Reopen()
	}
}

// left is the number of items that sinks had left at the end of the drain.
func (o *outputs) left() (items int) {
	for _, s := range o.sinks {
		items += s.Left()
	}
	return items
}

// close closes every destination, each by itself: one whose disk does not answer
// keeps neither the others nor the daemon.
func (o *outputs) close() error {
	closers := make(map[string]func() error)
	for _, s := range o.sinks {
		closers[s.Label()] = s.Close
	}
	if o.dlq != nil {
		closers[actors.NameDLQ] = o.dlq.Close
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
	late := time.After(stopGrace)
	for len(closers) > 0 {
		select {
		case end := <-ends:
			delete(closers, end.label)
			errs = append(errs, end.err)
		case <-late:
			names := slices.Sorted(maps.Keys(closers))
			return errors.Join(append(errs, fmt.Errorf("not closed in time: %s", strings.Join(names, ", ")))...)
		}
	}
	return errors.Join(errs...)
}
