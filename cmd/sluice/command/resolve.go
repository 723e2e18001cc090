package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/dynamic"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/sigma/pipeline"
	"github.com/sluicehq/sluice/sources/fetch"
)

func resolveFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		repeatedFlag("Processing pipeline, built in or a file; repeatable", "pipeline", "p"),
		repeatedFlag("File or directory that declares dynamic sources; repeatable", "source-file"),
		&cli.StringFlag{Name: "source", Aliases: []string{"s"}, Usage: "Only the source with this id; not a file: see --source-file"},
		&cli.BoolFlag{Name: "pretty", Usage: "Indented JSON"},
		&cli.BoolFlag{Name: "dry-run", Usage: "List the sources, and fetch nothing"},
		configFlag(true),
	}, daemonFlags("", egressFlag), loginFlags("NATS", natsFlags))
}

const (
	natsFlags   = "nats-" // what the flags that log in to NATS begin with
	egressFlag  = "egress-policy"
	includeFlag = "allow-remote-include"
)

// loadFetching is loadChecked for a command that fetches as the daemon does. Of the flags of
// the daemon it has those alone that say how, whatever the names of its own are.
func (e *env) loadFetching(c *cli.Context) (*config.Loaded, *console, error) {
	if c.IsSet("config") && c.String("config") == "" {
		return nil, nil, configFaultf("--config: the path is empty")
	}
	shared := slices.DeleteFunc(given(c, "daemon"), func(f config.Flag) bool {
		return !strings.HasPrefix(f.Name, natsFlags) && f.Name != egressFlag && f.Name != includeFlag
	})
	l, err := loadOptions(config.Options{
		File: c.String("config"), Section: "daemon", Environ: os.Environ(), Flags: append(given(c, "global"), shared...),
	})
	if err != nil {
		return nil, nil, err
	}
	return e.checkedPart(c, l, "")
}

// fetcher makes a client that fetches as the daemon with these settings does.
func (e *env) fetcher(l *config.Loaded) (*fetch.Client, error) {
	login, outbound := l.Config.Daemon.NATS.Config, l.Config.Daemon.Engine.Egress
	var err error
	if fault := outbound.Validate(); fault != nil {
		err = l.Problem("daemon.engine.egress_policy", fault)
	}
	login.Validate(func(flag string, fault error) { err = errors.Join(err, fmt.Errorf("%s: %w", flag, fault)) })
	if err != nil {
		return nil, configFault(err)
	}
	log := e.commandLogger(l)
	return fetch.New(fetch.Options{
		Policy: outbound.Policy(), Version: version(), Log: logging.Target(log, "sluice.sources"),
		NATS: natsconn.Client{Config: login, Log: logging.Target(log, "sluice.nats")},
	}), nil
}

// interruptGrace is how long a command may take to end once it is told to.
const interruptGrace = 5 * time.Second

// interruptible runs what would leave programs behind if the process just ended: at a signal
// ctx ends, and the process ends once run has. A second signal ends it at once.
func (e *env) interruptible(ctx context.Context, run func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if e.signals == nil {
		return run(ctx)
	}
	done := make(chan error, 1)
	close(e.handedOver)
	go func() { done <- run(ctx) }()
	var interrupted error
	var late <-chan time.Time
	for {
		select {
		case err := <-done:
			if interrupted != nil {
				return interrupted
			}
			return err
		case <-late:
			return interrupted
		case s := <-e.signals:
			n, ok := s.(syscall.Signal)
			if !ok {
				continue
			}
			if interrupted != nil {
				return interrupted
			}
			interrupted, late = silent(128+int(n)), time.After(interruptGrace)
			cancel()
		}
	}
}

// resolvedSource is what `pipeline resolve` prints of a source.
type resolvedSource struct {
	Pipeline string          `json:"pipeline"` // the place of its declaration
	ID       string          `json:"source_id"`
	Status   string          `json:"status"`
	Data     json.RawMessage `json:"data,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// declaredSource is what it prints of one that is not fetched.
type declaredSource struct {
	Pipeline string `json:"pipeline"`
	ID       string `json:"source_id"`
	Type     string `json:"source_type"`
	Required bool   `json:"required"`
	Refresh  string `json:"refresh"`
}

// sourceRow is what it prints of either when a format was chosen.
type sourceRow struct {
	Pipeline string `json:"pipeline"`
	ID       string `json:"source_id"`
	Type     string `json:"source_type"`
	Status   string `json:"status"`
	Data     string `json:"data_or_error"`
}

const (
	statusOK      = "ok"
	statusError   = "error"
	statusPending = "pending" // nothing was fetched
)

func (e *env) pipelineResolve(c *cli.Context) error {
	l, out, err := e.loadFetching(c)
	if err != nil {
		return err
	}
	if len(repeated(c, "pipeline")) == 0 {
		return configFaultf("no pipeline is named (--pipeline)")
	}
	all, warnings, err := fetch.Load(repeated(c, "source-file"))
	e.warn(warnings...)
	if err != nil {
		return configFault(err)
	}
	if err := e.readReferences(repeated(c, "pipeline"), all); err != nil {
		return err
	}
	if len(all) == 0 {
		return ruleFault(errors.New("No dynamic sources found in the provided pipelines or source files." + fileHint(c.String("source"))))
	}
	if c.IsSet("source") {
		all = slices.DeleteFunc(all, func(d *fetch.Declaration) bool { return d.ID != c.String("source") })
		if len(all) == 0 {
			return ruleFault(errors.New("No sources matched the filter." + fileHint(c.String("source"))))
		}
	}
	if c.Bool("dry-run") {
		return printDeclared(out, all, c.Bool("pretty"))
	}
	client, err := e.fetcher(l)
	if err != nil {
		return err
	}
	return e.interruptible(c.Context, func(ctx context.Context) error {
		defer client.Close()
		list := dynamic.Resolve(ctx, client, all)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return e.printResolved(out, list, c.Bool("pretty"))
	})
}

// fileHint goes behind a message that there is no source when an id looks like a path.
func fileHint(id string) string {
	if !strings.ContainsAny(id, `./\`) {
		return ""
	}
	return " --source takes the id of a source; name a file of declarations with --source-file."
}

// readReferences reads pipelines and tells what their references come to.
func (e *env) readReferences(names []string, all []*fetch.Declaration) error {
	set, err := pipeline.Load(names)
	if err != nil {
		return ruleFault(fmt.Errorf("%w %w", ruleset.ErrPipeline, err))
	}
	for _, p := range set.Pipelines {
		if !p.Dynamic {
			fmt.Fprintf(e.Err, "note: pipeline %s refers to no dynamic source\n", p.Path)
		}
	}
	declared := ruleset.Sources{Declared: idsOf(all)}
	if err := declared.Check(set); err != nil {
		e.warn(err.Error())
	}
	return nil
}

func idsOf(all []*fetch.Declaration) (ids []string) {
	for _, d := range all {
		ids = append(ids, d.ID)
	}
	return ids
}

func printDeclared(out *console, all []*fetch.Declaration, pretty bool) error {
	var list []any
	var rows []sourceRow
	for _, d := range all {
		list = append(list, declaredSource{d.Place(), d.ID, d.Type.Label(), d.Required, d.Refresh.String()})
		rows = append(rows, sourceRow{d.Place(), d.ID, d.Type.Label(), statusPending, ""})
	}
	return printSources(out, list, rows, pretty)
}

// printResolved prints what came of sources. The error is a silent one when one that is
// required has no value.
func (e *env) printResolved(out *console, outcomes []dynamic.Outcome, pretty bool) error {
	var list []any
	var rows []sourceRow
	failed := false
	for _, o := range outcomes {
		r := resolvedSource{Pipeline: o.Place(), ID: o.ID, Status: statusOK, Data: o.JSON}
		text := string(o.JSON)
		switch {
		case !o.Resolved && !o.Required: // the daemon goes on without it
			e.warn(o.Err.Error() + " (it counts as null)")
			r.Data, text = json.RawMessage("null"), "null"
		case !o.Resolved:
			r.Status, r.Error, r.Data, text, failed = statusError, o.Err.Error(), nil, o.Err.Error(), true
		case o.JSON == nil:
			r.Data, text = json.RawMessage("null"), "null"
		}
		if o.Resolved && o.Err != nil {
			e.warn(o.Err.Error() + " (its default counts)")
		}
		list, rows = append(list, r), append(rows, sourceRow{r.Pipeline, o.ID, o.Type.Label(), r.Status, text})
	}
	err := printSources(out, list, rows, pretty)
	if err == nil && failed {
		err = silent(exitFindings)
	}
	return err
}

// printSources prints a list, or rows when a format was chosen. One alone is no list.
func printSources(out *console, list []any, rows []sourceRow, pretty bool) error {
	switch {
	case out.explicit && out.tabular():
		var texts [][]string
		for _, r := range rows {
			texts = append(texts, []string{r.Pipeline, r.ID, r.Type, r.Status, r.Data})
		}
		return written(out.writeTable([]string{"PIPELINE", "SOURCE_ID", "SOURCE_TYPE", "STATUS", "DATA_OR_ERROR"}, texts))
	case out.explicit && out.format == formatNDJSON:
		for _, r := range rows {
			if err := writeJSON(out.Out, r, false); err != nil {
				return written(err)
			}
		}
		return nil
	case out.explicit && len(rows) == 1:
		return written(writeJSON(out.Out, rows[0], out.pretty()))
	case out.explicit:
		return written(writeJSON(out.Out, rows, out.pretty()))
	case len(list) == 1:
		return written(writeJSON(out.Out, list[0], pretty))
	}
	return written(writeJSON(out.Out, list, pretty))
}
