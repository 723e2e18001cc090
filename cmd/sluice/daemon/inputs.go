package daemon

import (
	"context"
	"strings"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/ndjson"
	"github.com/sluicehq/sluice/sources/stdin"
)

// inputKind is a kind of input.
type inputKind struct {
	name string // of --input, or the scheme of its URLs
	url  bool
	open func(d *Daemon) (sources.Source, error) // no source for events that are pushed
}

// inputKinds are what this build has.
func inputKinds() []inputKind {
	return []inputKind{
		{"stdin", false, func(d *Daemon) (sources.Source, error) { return stdin.New(d.o.In), nil }},
		{"http", false, func(d *Daemon) (sources.Source, error) {
			d.intake = ndjson.NewIntake(d.dataflow.Parse.Intake("http", time.Now), int64(d.cfg.Input.HTTP.MaxBodyBytes), d.over)
			return nil, nil
		}},
	}
}

// findInput finds the configured input. It refuses those that this build does not have.
func (d *Daemon) findInput() (inputKind, error) {
	source := d.cfg.Input.Source
	scheme, rest, isURL := strings.Cut(source, "://")
	for _, in := range append(inputKinds(), d.o.inputs...) {
		if in.name == scheme && (in.url && isURL || !in.url && rest == "") {
			return in, nil
		}
	}
	return inputKind{}, configFaultf("--input %s: no such input", source)
}

// openInput opens the input. Checkpoints follow one that delivers again.
func (d *Daemon) openInput() (err error) {
	d.source, err = d.input.open(d)
	if r, ok := d.source.(sources.Redelivering); ok && d.checkpointer != nil {
		d.checkpointer.follow(r.Positions())
	}
	return err
}

// read runs the source until it ends or the daemon stops.
func (d *Daemon) read(in sources.Intake) {
	ctx, cancel := context.WithCancel(context.Background())
	d.stopInput = cancel
	log := logging.Target(d.log, "sluice.sources")
	d.work.Go(func() {
		defer close(d.ended)
		if err := d.source.Run(ctx, in); err != nil {
			log.Warn("source ended", "source", d.cfg.Input.Source, "err", err)
			return
		}
		log.Info("source ended", "source", d.cfg.Input.Source)
	})
}

// closeInput acknowledges what the last checkpoint covers, and lets the input go.
func (d *Daemon) closeInput(ctx context.Context) error {
	r, ok := d.source.(sources.Redelivering)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopGrace/2)
	defer cancel()
	return r.Close(ctx)
}
