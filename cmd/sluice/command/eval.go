package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/urfave/cli/v2"

	stage "github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/cmd/sluice/checks"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/graph/alert"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/internal/plural"
	"github.com/sluicehq/sluice/sigma/result"
	"github.com/sluicehq/sluice/sources"
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
	alerts, err := stage.Load(o.AlertPipeline, nil)
	if err != nil {
		return configFault(err)
	}
	decoder, err := format.NewDecoder(o.InputFormat, o.SyslogTZ, o.SyslogStripBOM)
	if err != nil {
		return configFault(err)
	}
	if decoder.Filter, err = o.Filter.Compile(); err != nil {
		return configFault(err)
	}
	src, err := e.openEvents(o.Event, decoder)
	if err != nil {
		return ruleFault(err)
	}
	defer src.release()
	rules, err := e.buildRules(c.Context, l, settings, logging.Target(e.commandLogger(l), "sluice.engine"))
	if err != nil {
		return err
	}
	out.summary("%s", loaded(rules.Rules))
	if len(o.Event) == 0 && terminal.Is(e.In) {
		out.note("reading events from the terminal, one a line; end with Ctrl-D")
	}
	return e.evaluateAll(o, p, rules, alerts.Parsed(), decoder, src)
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
		e.warn(rules.Nothing())
	}
	e.warn(rules.Doubts...)
	return rules, nil
}

// loaded says how many rules there are, before the first result.
func loaded(r *ruleset.Rules) string {
	text := "Loaded " + plural.Of(len(r.Rules), "detection rule")
	if n := len(r.Correlations); n > 0 {
		text += " and " + plural.Of(n, "correlation rule")
	}
	if n := len(r.Rejected); n > 0 {
		text += fmt.Sprintf(", %s rejected", plural.Of(n, "document"))
	}
	if r.Excluded > 0 {
		text += fmt.Sprintf(", %d excluded", r.Excluded)
	}
	return text + "."
}

// evaluateAll runs the evaluation and sums it up.
func (e *env) evaluateAll(o *config.Eval, p *printer, rules *ruleset.Built, alerts *alert.File, decoder *format.Decoder, src sources.Reader) error {
	p.fit(rules.Collection)
	ev := newEvaluation(rules.Set, alerts, decoder, p, o, e.warn)
	err := cmp.Or(ev.run(src), p.finish())
	if isClosedPipe(err) {
		return err
	}
	ev.sumUp(p.out, o)
	ev.sumUpAlerts(p.out)
	ev.total.hintJSON(p.out)
	ev.total.hintFilter(p.out, decoder.Filter)
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
