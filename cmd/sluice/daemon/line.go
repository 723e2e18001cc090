package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/actors/dispatch"
	"github.com/sluicehq/sluice/actors/enrich"
	"github.com/sluicehq/sluice/actors/evaluate"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/actors/observe"
	"github.com/sluicehq/sluice/actors/parse"
	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/actors/risk"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sigma/correlation"
)

// line is the dataflow: the eight stages between the inputs and the sinks.
type line struct {
	outputs   *outputs
	parse     *parse.Stage
	observe   *observe.Stage
	evaluate  *evaluate.Stage
	correlate *correlate.Stage
	enrich    *enrich.Stage
	risk      *risk.Stage
	alert     *alert.Stage
	dispatch  *dispatch.Stage
	publisher *parse.Client
	windows   *correlate.Client
}

// newLine builds the stages from the sinks towards the inputs, since each gets
// the lane of its successor. What was restored may be nil.
func newLine(cfg *config.Daemon, set *graph.RuleSet, restored *correlation.Engine, out *outputs, log *slog.Logger) (*line, error) {
	decoder, err := format.NewDecoder(cfg.Input.Format, cfg.Input.SyslogTZ, cfg.Input.SyslogStripBOM)
	if err != nil {
		return nil, configFaultf("daemon.input: %w", err)
	}
	capacity := func(s graph.Stage) int { return actors.Capacity(s, cfg.Input.BufferSize, cfg.Mailboxes) }
	bytes := int(cfg.Input.BufferBytes)
	deadLetters := out.deadLetters()
	l := &line{outputs: out}
	l.dispatch = dispatch.New(dispatch.Options{
		Capacity: capacity(graph.StageDispatch), Bytes: bytes, Sinks: out.offered(), DeadLetters: deadLetters,
	})
	l.alert = alert.New(alert.Options{Capacity: capacity(graph.StageAlert), Bytes: bytes, Next: l.dispatch.Lane()})
	l.risk = risk.New(risk.Options{Capacity: capacity(graph.StageRisk), Bytes: bytes, Next: l.alert.Lane()})
	l.enrich = enrich.New(enrich.Options{Capacity: capacity(graph.StageEnrich), Bytes: bytes, Next: l.risk.Lane()})
	l.correlate = correlate.New(correlate.Options{
		Capacity: capacity(graph.StageCorrelate), Bytes: bytes, Set: set, MaxGroups: cfg.Correlation.MaxStateEntries, Restored: restored,
		Next: l.enrich.Lane(), DeadLetters: deadLetters, Log: logging.Target(log, "sluice.correlation"),
	})
	l.evaluate = evaluate.New(evaluate.Options{
		Capacity: capacity(graph.StageEvaluate), Bytes: bytes, Workers: workers(logging.Target(log, "sluice.engine")), Set: set,
		Timed: cfg.Correlation.TimestampFallback == "skip", Next: l.correlate.Lane(), DeadLetters: deadLetters,
	})
	l.observe = observe.New(observe.Options{Capacity: capacity(graph.StageObserve), Bytes: bytes, Next: l.evaluate.Lane()})
	o := parse.Options{
		Capacity: capacity(graph.StageParse), Bytes: bytes, BatchSize: cfg.Input.BatchSize, Decoder: decoder, Set: set,
		Next: l.observe.Lane(), Log: logging.Target(log, "sluice.engine"),
	}
	if out.dlq != nil {
		o.DeadLetters = out.dlq.Lane()
	}
	l.parse = parse.New(o)
	return l, nil
}

// register registers the series of the stages.
func (l *line) register(reg prometheus.Registerer) error {
	return errors.Join(l.parse.Register(reg), l.evaluate.Register(reg), l.correlate.Register(reg), l.enrich.Register(reg))
}

// spawn starts the actors, sinks first.
func (l *line) spawn(s *actors.System) error {
	if err := l.outputs.spawn(s); err != nil {
		return err
	}
	client, err := spawnAll(s, []actorOf{
		{l.dispatch.Cell(), l.dispatch.Produce},
		{l.alert.Cell(), l.alert.Produce},
		{l.risk.Cell(), l.risk.Produce},
		{l.enrich.Cell(), l.enrich.Produce},
		{l.correlate.Cell(), l.correlate.Produce},
	})
	if err != nil {
		return err
	}
	l.windows = correlate.NewClient(client)
	client, err = spawnAll(s, []actorOf{
		{l.evaluate.Cell(), l.evaluate.Produce},
		{l.observe.Cell(), l.observe.Produce},
		{l.parse.Cell(), l.parse.Produce},
	})
	if err != nil {
		return err
	}
	l.publisher = parse.NewClient(client)
	return nil
}

// actorOf is a stage to spawn.
type actorOf struct {
	cell    *mailbox.Cell
	produce func(actors.RestartState) actor.Actor
}

// spawnAll spawns stages in order and returns the client of the last.
func spawnAll(s *actors.System, stages []actorOf) (client *mailbox.Client, err error) {
	for _, a := range stages {
		if client, err = s.Spawn(a.cell, a.produce); err != nil {
			return nil, err
		}
	}
	return client, nil
}

const (
	workersVariable = "SLUICE_DETECT_INFLIGHT"
	maxWorkers      = 256
)

// workers is how many batches are judged at once.
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

// checkMailboxes refuses capacities for actors that this configuration does not
// know, and warns of those that are off.
func checkMailboxes(cfg *config.Loaded, sinks []string, log *slog.Logger) error {
	set := cfg.Config.Daemon.Mailboxes
	off := []string{"audit", "capture", "dispositions", "sources"}
	var known []string
	for _, s := range graph.Stages() {
		known = append(known, string(s))
	}
	for _, label := range sinks {
		known = append(known, "sink:"+label)
	}
	known = append(known, actors.NameDLQ, reload.Name)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		switch {
		case slices.Contains(off, name), name == actors.NameDLQ && cfg.Config.Daemon.Output.DLQ == "":
			log.Warn("mailbox of an actor that is off", "actor", name)
		case !slices.Contains(known, name):
			place := "daemon.mailboxes"
			if cfg.Layer(place+"."+name) == config.LayerFlag {
				place = "--mailbox-size"
			}
			return configFaultf("%s: unknown actor '%s' (%s)", place, name, strings.Join(append(known, off...), ", "))
		}
	}
	return nil
}

// retryDelay converts configured milliseconds.
func retryDelay(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }

// drainWarning tells what the end of the drain left behind.
func drainWarning(all []actors.Drained) (lost int, stuck []string) {
	for _, d := range all {
		lost += d.Lost
		if d.Expired {
			stuck = append(stuck, fmt.Sprintf("%s (%d)", d.Actor, d.Lost))
		}
	}
	return lost, stuck
}
