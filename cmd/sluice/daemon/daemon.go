package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/actors/dataflow"
	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sources"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/inputs"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/http/audit"
	"github.com/sluicehq/sluice/http/auth"
	"github.com/sluicehq/sluice/http/server"
	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/sources/fetch"
)

const metricPrefix = "svc_"

// Options are what a daemon is made of. All but Version and Revision are
// required.
type Options struct {
	Config   *config.Loaded // merged, and accepted by package checks
	Log      *slog.Logger
	In       io.Reader // events, with the input stdin
	Out      io.Writer // results, with the sink stdout
	Err      io.Writer // problems that keep the daemon from starting
	Version  string
	Revision string

	kinds     []inputs.Kind // of inputs that the build does not have
	transport func(sink.Spec, sink.Environment) (sink.Transport, error)
	fetcher   sources.Fetcher // nil for one that fetches
}

// Daemon is the running service.
type Daemon struct {
	o   Options
	cfg *config.Daemon
	log *slog.Logger

	begun        time.Time
	health       health
	registry     *prometheus.Registry
	series       *series
	server       *server.Server
	api          *api.API
	policy       *auth.Policy // nil without authentication
	system       *actors.System
	rules        *rules
	serving      atomic.Pointer[generation]
	features     features
	outputs      *sink.Outputs
	dataflow     *dataflow.Dataflow
	reloader     *reload.Reloader
	receiver     receiver
	from         []inputs.Spec
	inputs       *inputs.Set
	checkpointer *checkpointer // nil without a state database
	trail        *audit.Trail  // nil when changes over the API are not recorded
	declared     []*fetch.Declaration
	sources      *sources.Stage // nil when none is declared

	ended     chan struct{} // closed when every input has ended
	suspended chan string   // an actor used up its restart budget
	over      chan struct{} // closed at the end of the drain

	work    sync.WaitGroup
	failure error // of Serve, read after work is done
}

// New builds the daemon: it opens the state, binds the listener, which answers
// probes from then on, loads the rules and builds the features. An error is a *Fault,
// and nothing of the daemon is left behind. It gives up when ctx ends.
func New(ctx context.Context, o Options) (_ *Daemon, err error) {
	d := &Daemon{
		o: o, cfg: &o.Config.Config.Daemon, log: o.Log, begun: time.Now(),
		ended: make(chan struct{}), suspended: make(chan string, 1), over: make(chan struct{}),
	}
	defer func() {
		if err != nil {
			d.unwind()
		}
	}()
	d.rules = newRules(o.Config, logging.Span(logging.Target(d.log, "sluice.engine"), "load_rules"))
	d.from = inputs.Parse(d.cfg.Input.Sources, o.kinds, func(_ int, fault error) { err = errors.Join(err, fault) })
	if err != nil {
		return nil, configFaultf("--input: %w", err)
	}
	addr, err := d.cfg.API.Listener()
	if err != nil {
		return nil, configFault(err)
	}
	if d.policy, err = newPolicy(d.cfg.API); err != nil {
		return nil, err
	}
	if err := d.loadSources(); err != nil {
		return nil, err
	}
	if err := d.openState(); err != nil {
		return nil, err
	}
	if err := d.bind(addr); err != nil {
		return nil, err
	}
	d.watch()
	if err := d.openSources(); err != nil {
		return nil, err
	}
	first, err := d.rules.first(ctx, o.Err)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.serving.Store(first)
	first.commitValues(ctx)
	d.reloader.Loaded()
	return d, d.build(first.set)
}

// bind listens and serves probes and metrics.
func (d *Daemon) bind(addr server.Address) (err error) {
	log := logging.Target(d.log, "sluice.server")
	d.server, err = server.Listen(addr, log)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return configFaultf("%w (is another daemon running? --api-addr chooses another address, port 0 any free one)", err)
	case err != nil:
		return configFault(err)
	case d.cfg.API.TLS.On():
		certificates, err := d.cfg.API.TLS.Load(log)
		if err != nil {
			return configFault(err)
		}
		certificates.Warn(time.Now())
		d.server.Secure(certificates)
	}
	d.system = actors.NewSystem(actors.Options{
		Log: logging.Target(d.log, "sluice.actor"), MaxRestarts: d.cfg.Actors.MaxRestarts,
		RestartWindow: time.Duration(d.cfg.Actors.RestartWindow) * time.Second, OnSuspended: d.onSuspended,
	})
	if err := d.register(); err != nil {
		return configFault(err)
	}
	if err := d.openAudit(); err != nil {
		return configFault(err)
	}
	d.health.system.Store(d.system)
	o := api.Options{
		Log: logging.Target(d.log, "sluice.http"), Health: &d.health, Metrics: d.registry, Profiling: d.cfg.API.EnablePprof,
		Audit: d.audited(),
	}
	d.authenticate(&o)
	d.api = api.New(o)
	if d.cfg.API.EnablePprof && o.Protect == nil && !addr.Loopback() && !addr.Unix() {
		log.Warn("profiles are open to everybody who reaches the address", "addr", addr.String())
	}
	d.work.Go(func() {
		if err := d.server.Serve(d.api); err != nil {
			log.Error("the API has ended, events are still taken from other inputs", "addr", addr.String(), "err", err)
			d.failure = err
		}
	})
	return nil
}

// watch watches the files of the rules, before they are first read: a change that
// comes while they are is a reason for a reload as soon as the daemon serves. So is
// a certificate that has changed since it was read.
func (d *Daemon) watch() {
	log := logging.Target(d.log, "sluice.reload")
	d.reloader = reload.New(reload.Options{
		Components: slices.Concat(d.ruleSet().Components, alert.Watched(d.cfg.AlertPipeline), d.tls().Components), Metrics: d.series.reloads, Log: log,
		Capacity: d.cfg.Mailboxes[reload.Name], Rebuild: d.rebuild,
	})
	if err := d.reloader.Watch(); err != nil {
		log.Warn("files are not watched: reload by signal and request only", "err", err)
	}
	if c := d.server.Certificates(); c != nil && c.Stale() {
		d.reloader.Trigger(reload.File, "certificate")
	}
}

// build builds the features and restores what is stored of them.
func (d *Daemon) build(set *graph.RuleSet) error {
	lines, err := d.lineSinks()
	if err != nil {
		return configFault(err)
	}
	out, err := sink.OpenOutputs(sink.OutputsOptions{
		Config: d.cfg.Output, Capacity: d.cfg.Input.BufferSize, Capacities: d.cfg.Mailboxes, Bytes: int(d.cfg.Input.BufferBytes),
		Stream: d.o.Out, Version: d.o.Version, NATS: natsconn.Client{Config: d.cfg.NATS.Config, Log: logging.Target(d.log, "sluice.nats")},
		Kafka:  kafkaconn.Client{Config: d.cfg.Kafka, Log: logging.Target(d.log, "sluice.kafka")},
		Egress: egress.Policy(d.cfg.Engine.EgressPolicy), Lines: lines, Metrics: d.series.sinks, Log: logging.Target(d.log, "sluice.sink"),
		Transport: d.o.transport,
	})
	if err != nil {
		return configFault(err)
	}
	d.outputs = out
	d.features = append(d.features, out.Feature(), d.ruleSet(), d.tls())
	alerts, err := d.alerts()
	if err != nil {
		return configFault(err)
	}
	if d.dataflow, err = newDataflow(d.cfg, d.from, set, out, alerts, d.series.stages, d.log); err != nil {
		return err
	}
	d.features = append(d.features, d.dataflow.Features()...)
	d.reloader.Use(d.features.components()) // the rows of whatever is reloaded stand above
	d.features = append(d.features, d.process(), d.reloader.Feature())
	d.inputs, err = inputs.Open(d.from, inputs.Environment{
		Config: d.cfg, Log: logging.Target(d.log, "sluice.sources"), In: d.o.In, Parse: d.dataflow.Parse, Metrics: d.series.inputs, Over: d.over,
	})
	if err != nil {
		return configFault(err)
	}
	d.features = append(d.features, actors.Feature{Name: "inputs", Status: d.inputs.Status})
	if d.checkpointer != nil {
		d.checkpointer.decide(d.cfg, d.inputs.Streams())
		d.checkpointer.begin(d.features.saved())
		d.checkpointer.follow(d.inputs.Positions())
	}
	return nil
}

func (d *Daemon) onSuspended(name string) {
	select {
	case d.suspended <- name:
	default:
	}
}

// Start spawns the actors, from the sinks towards the input, mounts every route
// and opens the input. An error is a *Fault; Stop must be called all the same.
func (d *Daemon) Start() error {
	if err := d.system.SpawnAll(d.features); err != nil {
		return configFault(err)
	}
	if d.checkpointer != nil {
		d.checkpointer.start(d.dataflow.Parse.Client().Cut, d.system.Saved)
	}
	d.loaded(d.serving.Load())
	d.api.Mount(d.resources())
	d.health.serving.Store(true)
	if d.sources != nil {
		d.sources.Begin()
	}
	logging.Target(d.log, "sluice.server").Info("API server listening",
		append([]any{"addr", d.server.Addr().String(), "sinks", len(d.outputs.Sinks)}, Protection(d.cfg.API)...)...)
	d.inputs.Start(func() { close(d.ended) })
	return nil
}

// Addr is the bound address, with the real port.
func (d *Daemon) Addr() string { return d.server.Addr().String() }

// Ended is closed when every input has ended.
func (d *Daemon) Ended() <-chan struct{} { return d.ended }

// Suspended receives the name of an actor that used up its restart budget.
func (d *Daemon) Suspended() <-chan string { return d.suspended }

// Reload asks for a pass and has file sinks look at their paths again.
func (d *Daemon) Reload(from reload.Origin, reason string) { d.reloader.Trigger(from, reason) }

// Handler is the API, for tests that need no socket.
func (d *Daemon) Handler() http.Handler { return d.api }
