package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
)

func (e *env) ruleCommands() []*cli.Command {
	pipelines := repeatedFlag("Processing pipeline, built in or a file; repeatable", "pipeline", "p")
	pretty := &cli.BoolFlag{Name: "pretty", Usage: "Indented JSON"}
	return []*cli.Command{
		command("validate", "check every document and count what is usable", "PATH...", append([]cli.Flag{
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "Also list the usable documents"},
			pipelines, repeatedFlag("File or directory that declares dynamic sources; repeatable", "source"),
			&cli.BoolFlag{Name: "resolve-sources", Usage: "Fetch the dynamic sources, and check the rules with their values"}, configFlag(false),
		}, daemonFlags("With --resolve-sources: ", egressFlag, includeFlag)...), e.ruleValidate),
		command("parse", "print the documents of a file as JSON", "FILE", []cli.Flag{pretty}, e.ruleParse),
		command("stdin", "print the documents on stdin as JSON", "", []cli.Flag{pretty}, e.ruleStdin),
		command("condition", "print a condition expression as JSON", "EXPR", []cli.Flag{pretty}, e.ruleCondition),
		command("fields", "list the fields rules look at, after pipelines", "[PATH...]", []cli.Flag{
			repeatedFlag("Rule file or directory; repeatable", "rules", "r"), pipelines,
			&cli.BoolFlag{Name: "no-filters", Usage: "Leave filter rules out"}, configFlag(false),
		}, e.ruleFields),
		e.migrateSourcesCommand(),
	}
}

// loadRules is ruleset.Load with exit codes.
func loadRules(ctx context.Context, o ruleset.Options) (*ruleset.Rules, error) {
	c, err := ruleset.Load(ctx, o)
	if err != nil {
		return nil, loadFault(err)
	}
	return c, nil
}

// loadFault gives the exit code of an error of package ruleset.
func loadFault(err error) error {
	var sources *sourceFaults
	if errors.Is(err, ruleset.ErrPipeline) || errors.As(err, &sources) {
		return configFault(err)
	}
	return ruleFault(err)
}

// reportProblems prints every problem of every rejected document, then what the
// authors of the others should know. None of it is what --quiet leaves out.
func (e *env) reportProblems(c *ruleset.Rules) {
	for i := range c.Rejected {
		r := &c.Rejected[i]
		for _, p := range r.Problems {
			fmt.Fprintf(e.Err, "%s error: %s\n", stageOf(r), ruleset.Placed(c.Roots, p))
		}
	}
	e.warn(c.Notes...)
	for i := range c.Warnings {
		e.warn(ruleset.Placed(c.Roots, c.Warnings[i]).Error())
	}
}

// verdict counts documents, for `rule validate`.
type verdict struct {
	Detection     int           `json:"detection_rules"`
	Correlation   int           `json:"correlation_rules"`
	Filter        int           `json:"filter_rules"`
	ParseErrors   int           `json:"parse_errors"`
	Compiled      int           `json:"compiled"`
	CompileErrors int           `json:"compile_errors"`
	Problems      []ast.Problem `json:"problems"`
}

func (v verdict) rows() [][]string {
	return [][]string{
		{"detection rules", strconv.Itoa(v.Detection)},
		{"correlation rules", strconv.Itoa(v.Correlation)},
		{"filter rules", strconv.Itoa(v.Filter)},
		{"parse errors", strconv.Itoa(v.ParseErrors)},
		{"compiled", strconv.Itoa(v.Compiled)},
		{"compile errors", strconv.Itoa(v.CompileErrors)},
	}
}

// judge counts every document once as a parse error, or under its kind and as compiled
// or a compile error: the kinds together are as many as both of these.
func judge(c *load.Collection) verdict {
	v := verdict{
		Detection: len(c.Rules), Correlation: len(c.Correlations), Filter: c.Filters,
		Compiled: len(c.Rules) + len(c.Correlations) + c.Filters, Problems: c.Problems(),
	}
	if v.Problems == nil {
		v.Problems = []ast.Problem{}
	}
	for i := range c.Rejected {
		r := &c.Rejected[i]
		if stageOf(r) == ast.StageParse {
			v.ParseErrors++
			continue
		}
		v.CompileErrors++
		switch r.Kind {
		case load.DetectionKind:
			v.Detection++
		case load.CorrelationKind:
			v.Correlation++
		case load.FilterKind:
			v.Filter++
		}
	}
	return v
}

// stageOf is where a document failed: reading it, if any of it could not be read.
func stageOf(r *load.Rejected) ast.Stage {
	if r.Kind == load.NoKind || slices.ContainsFunc(r.Problems, func(p ast.Problem) bool { return p.Stage == ast.StageParse }) {
		return ast.StageParse
	}
	return ast.StageCompile
}

func (e *env) ruleValidate(c *cli.Context) error {
	load := func(c *cli.Context) (*config.Loaded, *console, error) { return e.loadChecked(c, "") }
	if c.Bool("resolve-sources") {
		load = e.loadFetching
	}
	l, out, err := load(c)
	if err != nil {
		return err
	}
	if !c.Args().Present() {
		return configFaultf("rule validate needs a path")
	}
	declared, err := e.loadSources(repeated(c, "source"))
	if err != nil {
		return err
	}
	o := ruleset.Options{Roots: c.Args().Slice(), Pipelines: repeated(c, "pipeline")}
	if !c.Bool("resolve-sources") {
		return e.validate(c.Context, c, out, o)
	}
	return e.interruptible(c.Context, func(ctx context.Context) error {
		if o.Expand, err = e.expansion(ctx, l, declared); err != nil {
			return err
		}
		return e.validate(ctx, c, out, o)
	})
}

// validate checks the rules of the options and prints a verdict.
func (e *env) validate(ctx context.Context, c *cli.Context, out *console, o ruleset.Options) error {
	rules, err := loadRules(ctx, o)
	if err != nil {
		return err
	}
	rules.Collection, err = rules.Compiled(func(c *load.Collection) error {
		_, err := engine.Compile(c.Rules, engine.Options{})
		return err
	})
	if err != nil {
		return ruleFault(err)
	}
	e.reportProblems(rules)
	if c.Bool("verbose") {
		for _, r := range rules.Rules {
			fmt.Fprintf(e.Err, "ok: %s: document %d: %s\n", ruleset.Place(rules.Roots, r.Origin.File), r.Origin.Document, r.Title)
		}
		for _, r := range rules.Correlations {
			fmt.Fprintf(e.Err, "ok: %s: document %d: %s\n", ruleset.Place(rules.Roots, r.Origin.File), r.Origin.Document, r.Title)
		}
	}
	v := judge(rules.Collection)
	if v.Compiled+v.Filter+len(rules.Rejected) == 0 {
		e.warn(rules.Nothing())
	}
	switch {
	case out.tabular():
		err = out.writeTable([]string{"METRIC", "VALUE"}, v.rows())
	case out.explicit:
		err = writeJSON(e.Out, v, out.pretty())
	default:
		var b bytes.Buffer
		for _, row := range v.rows() {
			fmt.Fprintf(&b, "%-18s %s\n", row[0]+":", row[1])
		}
		if o.Expand != nil {
			fmt.Fprintf(&b, "%-18s %s\n", "Sources resolved:", "OK")
		}
		_, err = e.Out.Write(b.Bytes())
	}
	if err == nil && len(rules.Rejected) > 0 {
		err = silent(exitRules)
	}
	return err
}

// parsed is the product of `rule parse`.
type parsed struct {
	Rules        []*ast.Rule        `json:"rules"`
	Correlations []*ast.Correlation `json:"correlations"`
	Filters      []*ast.Filter      `json:"filters"`
}

func (e *env) ruleParse(c *cli.Context) error {
	if c.Args().Len() != 1 {
		return configFaultf("rule parse needs one file")
	}
	data, err := os.ReadFile(c.Args().First())
	if err != nil {
		return ruleFault(err)
	}
	return e.printParsed(c, c.Args().First(), data)
}

func (e *env) ruleStdin(c *cli.Context) error {
	data, err := io.ReadAll(e.In)
	if err != nil {
		return ruleFault(fmt.Errorf("read stdin: %w", err))
	}
	return e.printParsed(c, "stdin", data)
}

// printParsed prints what could be read. A document with faults is a warning as
// long as another one is there to print.
func (e *env) printParsed(c *cli.Context, name string, data []byte) error {
	_, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	p := parsed{Rules: []*ast.Rule{}, Correlations: []*ast.Correlation{}, Filters: []*ast.Filter{}}
	rules := load.FromBytes(name, data, load.Options{
		NoFilters: true, Filter: func(f *ast.Filter) { p.Filters = append(p.Filters, f) },
	})
	for _, p := range rules.Problems() {
		e.warn(p.Error())
	}
	for i := range rules.Warnings {
		e.warn(rules.Warnings[i].Error())
	}
	if len(rules.Rejected) > 0 && !rules.Usable() && rules.Filters == 0 {
		return ruleFault(fmt.Errorf("%s holds no usable document", name))
	}
	p.Rules, p.Correlations = append(p.Rules, rules.Rules...), append(p.Correlations, rules.Correlations...)
	return e.printTree(c, out, p)
}

func (e *env) ruleCondition(c *cli.Context) error {
	_, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	if !c.Args().Present() {
		return configFaultf("rule condition needs an expression")
	}
	expr, err := condition.Parse(strings.Join(c.Args().Slice(), " "))
	if err != nil {
		return ruleFault(err)
	}
	return e.printTree(c, out, expr)
}

func (e *env) printTree(c *cli.Context, out *console, v any) error {
	if out.tabular() {
		out.fallback("JSON")
	}
	return writeJSON(e.Out, v, c.Bool("pretty") || out.pretty())
}

func (e *env) ruleFields(c *cli.Context) error {
	l, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	roots := append(repeated(c, "rules"), c.Args().Slice()...)
	if len(roots) == 0 {
		roots = l.Config.Daemon.Rules
	}
	if len(roots) == 0 {
		return configFaultf("no rules are named (--rules, or daemon.rules in a file)")
	}
	rules, err := loadRules(c.Context, ruleset.Options{
		Roots: roots, Pipelines: repeated(c, "pipeline"), NoFilters: c.Bool("no-filters"),
	})
	if err != nil {
		return err
	}
	e.reportProblems(rules)
	out.showFigures()
	if err := e.printFields(out, load.Fields(rules.Collection)); err != nil {
		return err
	}
	if len(rules.Rejected) > 0 && !rules.Usable() {
		return silent(exitRules)
	}
	return nil
}

func (e *env) printFields(out *console, fields []load.FieldCount) error {
	switch {
	case out.tabular():
		rows := make([][]string, len(fields))
		for i, f := range fields {
			rows[i] = []string{f.Field, strconv.Itoa(f.Rules)}
		}
		return out.writeTable([]string{"FIELD", "RULES"}, rows)
	case out.format == formatJSON:
		return writeJSON(e.Out, fields, out.pretty())
	}
	var b bytes.Buffer
	for _, f := range fields {
		if err := writeJSON(&b, f, false); err != nil {
			return err
		}
	}
	_, err := e.Out.Write(b.Bytes())
	return err
}
