package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/actors/dataflow"
	"github.com/sluicehq/sluice/actors/dispatch"
	"github.com/sluicehq/sluice/actors/evaluate"
	"github.com/sluicehq/sluice/actors/parse"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/inputs"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/http/api"
)

// newDataflow builds the stages as they are configured.
func newDataflow(cfg *config.Daemon, from []inputs.Spec, set *graph.RuleSet, out *sink.Outputs, alerts alert.Options, m *dataflow.Metrics, log *slog.Logger) (*dataflow.Dataflow, error) {
	decoders, err := inputs.ParseInputs(from, cfg)
	if err != nil {
		return nil, configFaultf("daemon.input: %w", err)
	}
	engineLog := logging.Target(log, "sluice.engine")
	return dataflow.New(dataflow.Options{
		BufferSize: cfg.Input.BufferSize, Capacities: cfg.Mailboxes, Bytes: int(cfg.Input.BufferBytes),
		DeadLetters: out.DeadLetters(), Set: set, Metrics: m,
		Parse: parse.Options{
			BatchSize: cfg.Input.BatchSize, Inputs: decoders, Log: engineLog,
		},
		Evaluate: evaluate.Options{Workers: workers(engineLog), Timed: cfg.Correlation.RequireTime(), Log: engineLog},
		Correlate: correlate.Options{
			Limits: cfg.Correlation.Limits(), Log: logging.Target(log, "sluice.correlation"),
		},
		Alert:    alerts,
		Dispatch: dispatch.Options{Sinks: offered(out.Sinks)},
	}), nil
}

// newStageMetrics makes the series of the stages.
func newStageMetrics(reg prometheus.Registerer, cfg *config.Daemon) (*dataflow.Metrics, error) {
	return dataflow.NewMetrics(reg, cfg.Correlation.RequireTime())
}

// resources are what the routes of the API speak to.
func (d *Daemon) resources() api.Resources {
	alerts := d.dataflow.Alert.Client()
	r := api.Resources{
		Status: d, Rules: d, Catalog: d, Reloader: d.reloader, Actors: d.system,
		Correlations: d.dataflow.Correlate.Client(), Silences: alerts, Incidents: alerts, Sources: d.feeds(), MaxIngestBody: int64(d.cfg.Input.HTTP.MaxBodyBytes),
	}
	if in := d.inputs.Pushed(); in != nil {
		r.Ingest = in
	}
	d.mountLogs(&r)
	if d.trail != nil {
		r.Audit = d.trail
	}
	if level := logging.LevelOf(d.o.Log); level != nil {
		r.LogLevel = logLevel{level}
	}
	return r
}

// offered are the sinks as dispatch knows them.
func offered(sinks []*sink.Sink) []dispatch.Sink {
	out := make([]dispatch.Sink, 0, len(sinks))
	for _, s := range sinks {
		d := dispatch.Sink{Label: s.Label(), Form: s.Form(), To: s.Lane(), AtOnce: s.AtOnce()}
		if s.Drops() {
			d.Dropped = s.Dropped
		}
		out = append(out, d)
	}
	return out
}

const (
	workersVariable = "SLUICE_DETECT_INFLIGHT"
	maxWorkers      = 256
)

// workers is how many batches are evaluated at once.
func workers(log *slog.Logger) int {
	text, set := os.LookupEnv(workersVariable)
	if !set {
		return runtime.GOMAXPROCS(0)
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil || n < 1:
		log.Warn("variable is no number between 1 and 256 and is ignored", "variable", workersVariable, "value", text)
		return runtime.GOMAXPROCS(0)
	case n > maxWorkers:
		return maxWorkers
	}
	return n
}

// late lists the actors that the deadline of the drain found at work, with what was
// left in their lanes.
func late(all []actors.Drained) (stuck []string) {
	for _, d := range all {
		if d.Expired {
			stuck = append(stuck, fmt.Sprintf("%s (%d)", d.Actor, d.Lost))
		}
	}
	return stuck
}
