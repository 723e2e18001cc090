package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/otlp/ingest"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sources/ndjson"
)

// daemon stands for everything behind the API. Its fields are set before
// requests are made.
type daemon struct {
	notReady   bool
	dying      string
	report     []actors.Member
	rules      RuleReport
	catalog    *catalog.Catalog
	level      LogLevel
	trail      Audit
	views      []correlation.Entry
	groups     []correlation.GroupEntry
	filter     correlation.Filter
	askErr     error
	reloads    int
	records    []actors.Record
	detail     any
	accepted   int
	undecoded  int
	ingestErr  error
	ingested   string
	ingestedAs ndjson.Options
	silences   *silence.Set // at second 100
	keep       bool         // silences stay when they are deleted
	noRoom     bool         // for silences
	warning    string       // of a silence that is made
	changeErr  error        // of changes of silences
	incidents  *incident.Store
	feeds      *feeds
	logs       ingest.Outcome
	logsErr    error
}

func (d *daemon) Ready() bool { return !d.notReady }

func (d *daemon) Failing() (string, bool) { return d.dying, d.dying != "" }

func (d *daemon) Status() []actors.Member { return d.report }

func (d *daemon) Rules() RuleReport { return d.rules }

func (d *daemon) Catalog() *catalog.Catalog { return d.catalog }

func (d *daemon) Request() { d.reloads++ }

func (d *daemon) Records() []actors.Record { return d.records }

func (d *daemon) Detail(context.Context, string) (detail any) { return d.detail }

func (d *daemon) List(context.Context) ([]correlation.Entry, error) { return d.views, d.askErr }

func (d *daemon) State(_ context.Context, f correlation.Filter) ([]correlation.Entry, iter.Seq[correlation.GroupEntry], int, error) {
	d.filter = f
	return d.views, slices.Values(d.groups), len(d.groups), d.askErr
}

func (d *daemon) Silences(context.Context) (list []*silence.Silence, now int64, err error) {
	if d.silences != nil {
		list = d.silences.List()
	}
	return list, 100, d.askErr
}

func (d *daemon) AddSilence(_ context.Context, s silence.Spec) (alert.Made, error) {
	if d.noRoom {
		return alert.Made{}, &alert.FullError{Limit: 1000}
	}
	if err := errors.Join(d.askErr, d.changeErr); err != nil {
		return alert.Made{}, err
	}
	s.ID = "made"
	made, err := silence.Compile(s, silence.API, 100)
	if err != nil {
		return alert.Made{}, err
	}
	if d.silences != nil {
		d.silences.Add(made)
	}
	return alert.Made{ID: s.ID, Warning: d.warning}, nil
}

func (d *daemon) DeleteSilence(_ context.Context, id string) (bool, error) {
	if err := errors.Join(d.askErr, d.changeErr); err != nil || d.silences == nil {
		return false, err
	}
	if d.keep { // for another request
		return d.silences.Find(id) != nil, nil
	}
	return d.silences.Remove(id), nil
}

func (d *daemon) Incidents(context.Context) (*incident.View, error) {
	if d.incidents == nil {
		return nil, d.askErr
	}
	return d.incidents.Export(), d.askErr
}

func (d *daemon) Record(name string) (actors.Record, error) {
	for _, r := range d.records {
		if r.Name == name {
			return r, nil
		}
	}
	return actors.Record{}, fmt.Errorf("look up %s: %w", name, actors.ErrNoActor)
}

func (d *daemon) Resize(name string, n int) (actors.Record, error) {
	r, err := d.Record(name)
	r.Mailbox.Capacity = n
	return r, err
}

func (d *daemon) Ingest(_ context.Context, body io.Reader, o ndjson.Options) (int, int, error) {
	b, err := io.ReadAll(body)
	d.ingested, d.ingestedAs = string(b), o
	if err != nil {
		return d.accepted, d.undecoded, err
	}
	return d.accepted, d.undecoded, d.ingestErr
}

// Post reads the body and says what it was told to.
func (d *daemon) Post(_ context.Context, p ingest.Post) (ingest.Outcome, error) {
	if _, err := io.ReadAll(p.Body); err != nil {
		return ingest.Outcome{}, err
	}
	o := d.logs
	o.JSON = p.ContentType == "application/json"
	return o, d.logsErr
}
