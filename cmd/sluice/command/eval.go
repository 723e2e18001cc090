package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/sluicehq/sluice/cmd/sluice/checks"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
)

func (e *env) evalCommand() *cli.Command {
	return sectionCommand("eval", "judge events once and end", "", "eval", []cli.Flag{
		configFlag(false),
		&cli.BoolFlag{Name: "dry-run", Usage: "Print the effective configuration and judge nothing"},
	}, e.eval)
}

func (e *env) eval(c *cli.Context) error {
	if c.Args().Present() {
		return configFaultf("engine eval takes no argument, got %q (events are named by --event, rules by --rules)", c.Args().First())
	}
	l, err := e.load(c, "eval")
	if err != nil {
		return err
	}
	e.notice(l)
	if c.Bool("dry-run") {
		return e.dryRun(l, "eval")
	}
	if err := e.checked(checks.Eval(l)); err != nil {
		return err
	}
	out := e.console(fullName(c), l.Config.Global)
	o := &l.Config.Eval
	decoder, err := format.NewDecoder(o.InputFormat, o.SyslogTZ, o.SyslogStripBOM)
	if err != nil {
		return configFault(err)
	}
	src, inline, err := e.openEvents(o.Event, c.IsSet("event"))
	if err != nil {
		return ruleFault(err)
	}
	defer func() { _ = src.Close() }() // only read from
	rules, err := e.buildRules(c.Context, l, logging.Target(e.commandLogger(l), "sluice.engine"))
	if err != nil {
		return err
	}
	if inline {
		decoder.Format = format.JSON
		if err := rules.Set.Engine.NewWorker().DecodeJSON(new(engine.Events), []byte(o.Event)); err != nil {
			return ruleFault(fmt.Errorf("--event: %w (a file of events is @FILE)", err))
		}
	}
	if f, ok := e.In.(*os.File); ok && !c.IsSet("event") && term.IsTerminal(int(f.Fd())) {
		out.note("reading events from the terminal, one a line; end with Ctrl-D")
	}
	return e.evaluateAll(o, out, rules, decoder, src)
}

// buildRules builds the rules of an evaluation and reports what is wrong with
// them.
func (e *env) buildRules(ctx context.Context, l *config.Loaded, log *slog.Logger) (*ruleset.Built, error) {
	o := &l.Config.Eval
	rules, err := ruleset.Build(ctx, l.EvalRules(), log)
	if err != nil {
		return nil, loadFault(err)
	}
	e.reportProblems(rules.Rules)
	log.Info("rules loaded", "detection_rules", len(rules.Rules.Rules), "correlation_rules", len(rules.Correlations),
		"rejected", len(rules.Rejected), "excluded", rules.Excluded, "path", strings.Join(o.Rules, ", "))
	if err := rules.Acceptable(o.StrictRules); err != nil {
		return nil, ruleFault(err)
	}
	if !rules.Usable() {
		e.warn("no rule was loaded; nothing can match")
	}
	e.warn(rules.Doubts...)
	return rules, nil
}

// openEvents opens what --event names, stdin when it is not given. The text of an
// inline event is a stream of its own.
func (e *env) openEvents(event string, given bool) (src io.ReadCloser, inline bool, err error) {
	path, file := strings.CutPrefix(event, "@")
	switch {
	case !given:
		return io.NopCloser(e.In), false, nil
	case !file:
		// One event, whatever line ends its text holds.
		flat := strings.NewReplacer("\n", " ", "\r", " ").Replace(event)
		return io.NopCloser(strings.NewReader(flat)), true, nil
	case strings.EqualFold(filepath.Ext(path), ".evtx"):
		return nil, false, fmt.Errorf("%s: Windows event records are not supported yet", path)
	}
	f, err := os.Open(path)
	if err == nil {
		if info, e := f.Stat(); e == nil && info.IsDir() {
			err = errors.Join(fmt.Errorf("%s is a directory", path), f.Close())
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("read events: %w", err)
	}
	return f, false, nil
}

// evaluateAll runs the evaluation and sums it up.
func (e *env) evaluateAll(o *config.Eval, out *console, rules *ruleset.Built, decoder *format.Decoder, src io.Reader) error {
	p := newPrinter(out, o.Pretty)
	p.fit(rules.Collection)
	dump := o.DumpCorrelationState
	if dump && (!rules.Set.Correlates() || o.Schema.Routing) {
		e.warn("--dump-correlation-state is ignored: there is no correlation to show")
		dump = false
	}
	ev := newEvaluation(rules.Set, decoder, p, o.Correlation.MaxStateEntries)
	ev.timed, ev.warn = o.Correlation.TimestampFallback == "skip", e.warn
	err := cmp.Or(ev.run(src), p.finish())
	if ev.truncated > 0 {
		e.warn(fmt.Sprintf("%d firings were not propagated: more than %d levels of correlations", ev.truncated, correlation.MaxLevels))
	}
	summarise(out, o, &ev.total, rules.Set.Correlates())
	if dump {
		dumpState(out.Err, ev.correlate.Engine)
	}
	switch {
	case errors.Is(err, errWrite):
		return configFault(err)
	case err != nil:
		return ruleFault(err)
	case o.FailOnDetection && ev.total.matches+ev.total.correlations > 0:
		return silent(exitFindings)
	}
	return nil
}

// dumpState writes the state of correlations as the routes of the service show it.
func dumpState(w io.Writer, e *correlation.Engine) {
	view := e.Export()
	groups, _ := view.State(correlation.Filter{})
	_ = writeJSON(w, struct { // there is nowhere left to say that stderr cannot be written
		Correlations []correlation.Entry      `json:"correlations"`
		Groups       []correlation.GroupEntry `json:"groups"`
	}{view.Entries(correlation.Filter{}), groups}, true)
}
