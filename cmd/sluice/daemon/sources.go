package daemon

import (
	"context"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sources"
	"github.com/sluicehq/sluice/cmd/sluice/inputs"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/sigma/pipeline"
	"github.com/sluicehq/sluice/sources/fetch"
)

// loadSources reads the declarations of sources, which a reload does not read again.
func (d *Daemon) loadSources() (err error) {
	declarations, warnings, err := fetch.Load(d.cfg.Sources)
	if err != nil {
		return configFault(err)
	}
	for _, w := range warnings {
		logging.Target(d.log, "sluice.sources").Warn("source declaration", "note", w)
	}
	for _, s := range declarations {
		d.rules.sources.Declared = append(d.rules.sources.Declared, s.ID)
	}
	d.rules.sources.AllowRemote = d.cfg.Engine.AllowRemoteInclude
	d.declared = declarations
	return nil
}

// openSources has the values of sources ready for the rules. Without declarations there is
// nothing to do.
func (d *Daemon) openSources() error {
	if len(d.declared) == 0 {
		return nil
	}
	log := logging.Target(d.log, "sluice.sources")
	o := sources.Options{
		Declarations: d.declared, ControlServer: controlServer(d.from, d.declared, d.cfg.Output), Changed: func(ids []string) { d.reloader.Changed(ids...) },
		Fetcher: d.o.fetcher,
		Metrics: d.series.sources, Log: logging.Target(d.log, "sluice.sources.refresh"), Capacity: d.cfg.Mailboxes[sources.Name],
	}
	if o.Fetcher == nil {
		o.Fetcher = fetch.New(fetch.Options{
			Policy: egress.Policy(d.cfg.Engine.EgressPolicy), Version: d.o.Version, Log: logging.Span(log, "resolve_source"),
			NATS: natsconn.Client{Config: d.cfg.NATS.Config, Log: logging.Target(d.log, "sluice.nats")},
		})
	}
	if d.checkpointer != nil {
		o.Rows = d.checkpointer.store.Table(sources.TableName)
	}
	d.sources = sources.New(o)
	d.features = append(d.features, d.sources.Feature())
	d.rules.values = &values{
		fetch: d.fetchSources,
		now:   func() map[string]pipeline.Value { return d.sources.Client().Snapshot().Values() },
	}
	if _, err := d.system.Spawn(d.sources.Cell(), d.sources.Produce); err != nil {
		return configFault(err)
	}
	return nil
}

// feeds answers for the sources; nil, which is a client as well, for none.
func (d *Daemon) feeds() *sources.Client {
	if d.sources == nil {
		return nil
	}
	return d.sources.Client()
}

// fetchSources fetches every source. What comes is current when it is committed.
func (d *Daemon) fetchSources(ctx context.Context) (map[string]pipeline.Value, func(context.Context), error) {
	round, err := d.sources.Client().Fetch(ctx)
	if err != nil {
		return nil, nil, err
	}
	return round.Values(), func(ctx context.Context) {
		if err := round.Commit(ctx); err != nil {
			logging.Target(d.log, "sluice.sources").Error("the values that the rules have are not current: refresh the sources", "err", err)
		}
	}, nil
}

// endSources stops the fetching and waits for what is being stored.
func (d *Daemon) endSources(ctx context.Context) {
	if d.sources == nil {
		return
	}
	now, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := d.system.DrainActor(now, sources.Name); err != nil {
		d.log.Debug("sources were not running", "err", err)
	}
	if err := d.sources.Close(ctx); err != nil {
		logging.Target(d.log, "sluice.sources").Warn("shutdown", "err", err)
	}
}

// controlServer is the NATS server by which fetches may be asked for: that of the first
// input, else of the first source, else of the first sink; empty without one.
func controlServer(from []inputs.Spec, declared []*fetch.Declaration, out sink.Config) string {
	for _, s := range from {
		if s.Scheme == "nats" {
			return natsServer(s.Target)
		}
	}
	for _, s := range declared {
		if s.Type == fetch.NATS {
			return s.URL
		}
	}
	for _, s := range out.Specs(func(int, error) {}) { // errors are reported already
		if s.Kind == sink.KindNATS {
			return natsServer(s.Target)
		}
	}
	return ""
}

func natsServer(target string) string {
	server, _, err := natsconn.Address(target)
	if err != nil { // is reported already
		return ""
	}
	return server
}
