package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/stdout"
	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/deadletters"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/cmd/sluice/shell"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/sigma/timespan"
)

const (
	// commitTimeout is above the 30 seconds that the daemon takes for lines to come to their end.
	commitTimeout = 90 * time.Second
	// replayGrace is how long what is under way may take once a replay is told to end.
	replayGrace     = 5 * time.Second
	patienceDefault = "5m"
	stateSuffix     = ".replayed"
)

func dlqReplayFlags() []cli.Flag {
	return slices.Concat(dlqFilterFlags(), []cli.Flag{
		&cli.StringFlag{Name: "to", Usage: "Sink that takes the results of failed deliveries, as --output names one" + shell.SinksLeftOut()},
		repeatedFlag("File or directory of webhooks: results go to the webhook that could not deliver them; repeatable", "webhook"),
		&cli.StringFlag{Name: "rate", Usage: "Dead letters a second, at most"},
		&cli.StringFlag{Name: "patience", Value: patienceDefault, Usage: "Give up when the daemon takes nothing for so long"},
		&cli.StringFlag{Name: "state", Usage: "File that holds how far the replay came; FILE" + stateSuffix + " when absent"},
		&cli.BoolFlag{Name: "restart", Usage: "Forget how far an earlier replay came"},
		&cli.BoolFlag{Name: "dry-run", Usage: "List what would be sent, and send nothing"},
		&cli.BoolFlag{Name: "json", Usage: "With --dry-run: one JSON object a line, also on a terminal"},
	}, loginFlags("NATS", "nats-"), loginFlags("Kafka", "kafka-"), clientFlags())
}

// loginFlags are those of the daemon that say how to log in to a system, which begin with
// a prefix.
func loginFlags(system, prefix string) (flags []cli.Flag) {
	for _, info := range config.FlagsOf("daemon") {
		if !strings.HasPrefix(info.Flag, prefix) || info.Key != "" {
			continue
		}
		flags = append(flags, daemonFlag(info, system+": "))
	}
	return flags
}

func (e *env) dlqReplay(c *cli.Context) error {
	l, out, err := e.loadPart(c, "daemon", "")
	if err != nil {
		return err
	}
	p, input, err := e.newReplay(c, l, out)
	if err != nil {
		return err
	}
	verb := "replayed"
	var list *letters
	if c.Bool("dry-run") {
		verb = "would replay"
		if list, err = newLetters(c, out); err != nil {
			return err
		}
		p.Dry = list.write
	}
	counts, interrupted, err := e.replay(p)
	if list != nil {
		err = errors.Join(err, list.end())
	}
	if err == nil || counts != (deadletters.Counts{}) {
		for _, line := range counts.Summary(verb, input, p.To) {
			out.summary("%s", terminal.Printable(line))
		}
		if p.State != "" && p.Dry == nil {
			out.summary("how far it came is kept in %s", p.State)
		}
	}
	var missing *deadletters.Missing
	switch {
	case interrupted != nil:
		return silent(128 + int(*interrupted))
	case errors.As(err, &missing):
		return &exitError{exitFindings, err}
	case err != nil:
		return configFault(err)
	case counts.Refused+counts.RefusedBefore+counts.Damaged > 0:
		return silent(exitFindings)
	}
	return nil
}

// newReplay makes a replay of the command line, which names its input for people.
func (e *env) newReplay(c *cli.Context, l *config.Loaded, out *console) (p *deadletters.Replay, input string, err error) {
	if c.NArg() != 1 {
		return nil, "", configFaultf("dlq replay takes one file of dead letters (- for standard input), got %d", c.NArg())
	}
	p = &deadletters.Replay{File: c.Args().First(), Stdin: e.In, State: c.String("state"), Restart: c.Bool("restart"), To: c.String("to"), Damaged: tellDamage(out)}
	if p.Filter, p.Selection, err = dlqFilter(c); err != nil {
		return nil, "", err
	}
	if p.State == "" && p.File != deadletters.Stdin {
		p.State = p.File + stateSuffix
	}
	if text := c.String("rate"); text != "" {
		if p.Rate, err = strconv.ParseFloat(text, 64); err != nil || !(p.Rate > 0 && p.Rate <= 1e9) {
			return nil, "", configFaultf("--rate: %q is no number of dead letters a second (such as 100 or 0.5)", text)
		}
	}
	patience, err := timespan.ParseDuration(c.String("patience"))
	if err != nil || patience < 0 {
		return nil, "", configFaultf("--patience: %q is no duration (such as 5m)", c.String("patience"))
	}
	p.Refused = func(r *deadletters.Record, err error) {
		fmt.Fprintf(e.Err, "warning: dead letter %d refused: %s\n", r.Number, terminal.Printable(err.Error()))
	}
	p.RefusedBefore = func(number int, why string) {
		fmt.Fprintf(e.Err, "warning: dead letter %d was refused by an earlier replay: %s\n", number, terminal.Printable(why))
	}
	o := &l.Config.Daemon.Output
	retry := sink.Retry{Max: o.RetryMax, Base: time.Duration(o.BackoffBaseMS) * time.Millisecond, Cap: time.Duration(o.BackoffMaxMS) * time.Millisecond}
	switch paths := repeated(c, "webhook"); {
	case p.To != "" && len(paths) > 0:
		return nil, "", configFaultf("--to and --webhook exclude each other: replay twice, with --sink and with two files of --state")
	case p.To != "":
		err = e.replayTarget(p, l, retry, c.Bool("dry-run"), out)
	case len(paths) > 0:
		err = e.replayWebhooks(p, l, paths, out)
	}
	if err != nil {
		return nil, "", err
	}
	if p.To != "" && !c.IsSet("addr") {
		return p, "", nil
	}
	cl, err := e.client(c, l, commitTimeout)
	if err != nil {
		return nil, "", err
	}
	p.Input = &deadletters.Input{Client: cl, Retry: retry, Patience: patience.Std(), Waiting: func(pause time.Duration, err error) {
		out.note("waiting %s: %s", pause.Round(time.Millisecond), terminal.Printable(err.Error()))
	}}
	return p, cl.Addr(), nil
}

// replayTarget opens the sink of --to; a dry run only looks at how it is named.
func (e *env) replayTarget(p *deadletters.Replay, l *config.Loaded, retry sink.Retry, dry bool, out *console) error {
	spec, warnings, err := deadletters.ParseTarget(p.To)
	e.warn(warnings...)
	if err != nil {
		return configFault(fmt.Errorf("--to: %w", err))
	}
	login := l.Config.Daemon.NATS.Config
	fault := func(flag string, fault error) { err = errors.Join(err, fmt.Errorf("%s: %w", flag, fault)) }
	login.Validate(fault)
	l.Config.Daemon.Kafka.Validate(fault)
	if err != nil {
		return configFault(err)
	}
	if dry {
		return nil
	}
	log := e.commandLogger(l)
	p.Target, err = deadletters.OpenTarget(spec, retry, sink.Environment{
		Stdout: stdout.NewStream(e.Out), Now: time.Now, Version: version(), Label: "replay", Log: logging.Target(log, "sluice.sink"),
		NATS:  natsconn.Client{Config: login, Log: logging.Target(log, "sluice.nats")},
		Kafka: kafkaconn.Client{Config: l.Config.Daemon.Kafka, Log: logging.Target(log, "sluice.kafka")},
	}, tellAttempts(out))
	if err != nil {
		return configFault(fmt.Errorf("--to: %w", err))
	}
	return nil
}

// replayWebhooks opens the webhooks of --webhook.
func (e *env) replayWebhooks(p *deadletters.Replay, l *config.Loaded, paths []string, out *console) error {
	policy := l.Config.Daemon.Engine.Policy()
	all, faults := webhook.Load(paths, webhook.LoadOptions{Policy: policy})
	if len(faults) > 0 {
		var joined []error
		for _, f := range faults {
			joined = append(joined, fmt.Errorf("--webhook: %w", f))
		}
		return configFault(errors.Join(joined...))
	}
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		return err
	}
	clients, log := sink.WebhookClients(policy, version()), logging.Target(e.commandLogger(l), "sluice.sink")
	p.To, p.By = strings.Join(paths, ", "), "--webhook"
	p.Target = deadletters.OpenWebhooks(all, func(w *webhook.Webhook) sink.Transport { return clients.Open(w, metrics, log) }, tellAttempts(out))
	return nil
}

// tellAttempts tells of attempts that failed and of remarks.
func tellAttempts(out *console) func(attempt int, err error) {
	return func(attempt int, err error) {
		if attempt == 0 {
			out.note("taken with a remark: %s", terminal.Printable(err.Error()))
			return
		}
		out.note("attempt %d failed: %s", attempt, terminal.Printable(err.Error()))
	}
}

// replay runs until its end or a signal, which it survives until what is under way has
// ended. A second signal ends it at once.
func (e *env) replay(p *deadletters.Replay) (counts deadletters.Counts, interrupted *syscall.Signal, err error) {
	stop, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	work, abort := context.WithCancel(context.Background())
	defer abort()
	type ending struct {
		counts deadletters.Counts
		err    error
	}
	done := make(chan ending, 1)
	close(e.handedOver)
	go func() {
		counts, err := p.Run(stop, work)
		if p.Target != nil {
			err = errors.Join(err, p.Target.Close())
		}
		done <- ending{counts, err}
	}()
	var late <-chan time.Time
	for {
		select {
		case end := <-done:
			return end.counts, interrupted, end.err
		case <-late:
			if work.Err() != nil && len(done) == 0 { // it waits for standard input
				return counts, interrupted, nil
			}
			abort()
			late = time.After(time.Second)
		case s := <-e.signals:
			n, ok := s.(syscall.Signal)
			if !ok {
				n = syscall.SIGINT
			}
			if interrupted != nil {
				return counts, &n, nil
			}
			interrupted = &n
			interrupt()
			late = time.After(replayGrace)
		}
	}
}
