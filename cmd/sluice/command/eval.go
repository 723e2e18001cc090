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
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/result"
)

func (e *env) evalCommand() *cli.Command {
	return sectionCommand("eval", "evaluate events once and end", "", "eval", []cli.Flag{
		configFlag(false),
		&cli.BoolFlag{Name: "dry-run", Usage: "Print the effective configuration and evaluate nothing"},
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
	p, settings := newPrinter(out, o.Pretty), l.EvalRules()
	if err := p.refusal(o); err != nil {
		return err
	}
	if p.rows != nil {
		settings.MatchDetail = result.Summary.String() // with the texts that have keywords
	}
	decoder, err := format.NewDecoder(o.InputFormat, o.SyslogTZ, o.SyslogStripBOM)
	if err != nil {
		return configFault(err)
	}
	src, inline, err := e.openEvents(o.Event, c.IsSet("event"))
	if err != nil {
		return ruleFault(err)
	}
	defer func() { _ = src.Close() }() // only read from
	rules, err := e.buildRules(c.Context, l, settings, logging.Target(e.commandLogger(l), "sluice.engine"))
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
	return e.evaluateAll(o, p, rules, decoder, src)
}

// buildRules builds the rules of an evaluation and reports what is wrong with
// them.
func (e *env) buildRules(ctx context.Context, l *config.Loaded, s ruleset.Settings, log *slog.Logger) (*ruleset.Built, error) {
	o := &l.Config.Eval
	rules, err := ruleset.Build(ctx, s, log)
	if err != nil {
		return nil, loadFault(err)
	}
	e.reportProblems(rules.Rules)
	log.Info("rules loaded", append(rules.Counts().Attrs(), "rejected", len(rules.Rejected), "excluded", rules.Excluded,
		"path", strings.Join(o.Rules, ", "))...)
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
func (e *env) evaluateAll(o *config.Eval, p *printer, rules *ruleset.Built, decoder *format.Decoder, src io.Reader) error {
	p.fit(rules.Collection)
	ev := newEvaluation(rules.Set, decoder, p, o, e.warn)
	err := cmp.Or(ev.run(src), p.finish())
	ev.sumUp(p.out, o)
	switch {
	case errors.Is(err, errWrite):
		return configFault(err)
	case err != nil:
		return ruleFault(err)
	case o.FailOnDetection && ev.total.matches+ev.total.firings > 0:
		return silent(exitFindings)
	}
	return nil
}
