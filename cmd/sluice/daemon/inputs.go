package daemon

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/internal/redact"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/ndjson"
	"github.com/sluicehq/sluice/sources/stdin"
)

// inputKind is a kind of input.
type inputKind struct {
	name  string              // also the scheme of its URLs
	usage string              // how --input names it
	words []string            // that name it without a URL
	url   func(*url.URL) bool // whether a URL with its scheme says all; nil for an input without URLs

	// open is nil for a kind that this build does not have. It returns no source for
	// events that are pushed.
	open func(d *Daemon) (sources.Source, error)
}

// inputKinds are all kinds.
func inputKinds() []inputKind {
	return []inputKind{
		{
			name: "stdin", usage: "stdin", words: []string{"stdin", "stdin://"},
			open: func(d *Daemon) (sources.Source, error) {
				s := stdin.New(d.o.In)
				s.Encoded = func(e sources.Encoding) {
					logging.Target(d.log, "sluice.sources").Warn(fmt.Sprintf("standard input is %s and is read as lines, so its events are not found: send it through %s", e, strings.TrimSuffix(e.Tool(), " FILE")), "source", d.sourceName())
				}
				return s, nil
			},
		},
		{
			name: "http", usage: "http", words: []string{"http"},
			open: func(d *Daemon) (sources.Source, error) {
				f, err := format.Parse(d.cfg.Input.Format)
				d.intake = ndjson.NewIntake(d.dataflow.Parse.Intake("http", time.Now), int64(d.cfg.Input.HTTP.MaxBodyBytes), d.over)
				d.intake.Lines = !f.Values()
				return nil, err
			},
		},
		{
			name: "nats", usage: "nats://host:port/subject",
			url: func(u *url.URL) bool { return u.Port() != "" && u.Hostname() != "" && len(u.Path) > 1 },
		},
		{name: "unix", usage: "unix:///path", url: func(u *url.URL) bool { return u.Host == "" && len(u.Path) > 1 }},
	}
}

// CheckInput reports a source that names no input, or one that this build does not have.
func CheckInput(source string) error {
	_, err := findInput(source, inputKinds())
	return err
}

// findInput finds the kind of input that source names.
func findInput(source string, kinds []inputKind) (inputKind, error) {
	var here, names []string
	for _, k := range kinds {
		if k.open != nil {
			here, names = append(here, k.usage), append(names, k.name)
		}
	}
	i := slices.IndexFunc(kinds, func(k inputKind) bool { return k.named(source) })
	switch {
	case i < 0:
		scheme, _, _ := strings.Cut(source, "://")
		return inputKind{}, suggest.Wrap(fmt.Errorf("%q is no input (%s)", redact.Text(source), strings.Join(here, ", ")), scheme, names)
	case kinds[i].open == nil:
		return inputKind{}, fmt.Errorf("%q is not in this build (%s)", redact.Text(source), strings.Join(here, ", "))
	}
	return kinds[i], nil
}

// named reports whether source names an input of this kind.
func (k *inputKind) named(source string) bool {
	if k.url == nil || !strings.HasPrefix(source, k.name+"://") {
		return slices.Contains(k.words, source)
	}
	u, err := url.Parse(source)
	return err == nil && k.url(u)
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
			log.Warn("source ended", "source", d.sourceName(), "err", err)
			return
		}
		log.Info("source ended", "source", d.sourceName())
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

// sourceName is the input as log lines and errors name it.
func (d *Daemon) sourceName() string { return redact.Text(d.cfg.Input.Source) }
