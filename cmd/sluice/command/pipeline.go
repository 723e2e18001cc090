package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
)

func (e *env) pipelineCommands() []*cli.Command {
	return []*cli.Command{
		command("list", "list the built-in pipelines and the events they are for", "", nil, e.pipelineList),
		command("show", "print a built-in pipeline", "NAME", nil, e.pipelineShow),
		command("diff", "show what pipelines change in rules", "", []cli.Flag{
			repeatedFlag("Rule file or directory; repeatable", "rules", "r"),
			repeatedFlag("Processing pipeline, built in or a file; repeatable", "pipeline", "p"),
			&cli.StringFlag{Name: "rule-id", Usage: "Only rules with this id or title"}, configFlag(false),
		}, e.pipelineDiff),
		command("resolve", "fetch dynamic sources and print their values", "", resolveFlags(), e.pipelineResolve),
	}
}

// rewriting is what the pipelines make of one rule. Its trees are those of
// `rule parse`.
type rewriting struct {
	Title   string          `json:"rule_title"`
	ID      string          `json:"rule_id,omitempty"`
	Changed bool            `json:"changed"`
	Applied []string        `json:"applied_items"` // sorted
	Before  json.RawMessage `json:"before"`
	After   json.RawMessage `json:"after"`
}

// rewritings collects them while rules are loaded.
type rewritings struct {
	ruleID string // empty keeps every rule
	found  bool
	list   []rewriting
	rules  []*ast.Rule // of list
	failed []ast.Problem
	err    error
}

func (w *rewritings) observe(before, after *ast.Rule, o load.Outcome, err error) {
	if w.ruleID != "" && before.ID != w.ruleID && before.Title != w.ruleID {
		return
	}
	w.found = true
	switch {
	case errors.Is(err, load.ErrSkip): // the loader warns of it
		return
	case err != nil:
		w.failed = append(w.failed, ast.Problem{
			Title: before.Title, Reason: err.Error(), File: before.Origin.File, Document: before.Origin.Document,
		})
		return
	}
	r := rewriting{Title: before.Title, ID: before.ID, Applied: o.Applied}
	if r.Applied == nil {
		r.Applied = []string{}
	}
	r.Before, r.After = w.tree(before), w.tree(after)
	r.Changed = !bytes.Equal(r.Before, r.After)
	w.list, w.rules = append(w.list, r), append(w.rules, after)
}

func (w *rewritings) tree(r *ast.Rule) []byte {
	var b bytes.Buffer
	w.err = errors.Join(w.err, writeJSON(&b, r, false))
	return bytes.TrimSpace(b.Bytes())
}

// usable keeps what became a rule: the others are reported as problems.
func (w *rewritings) usable(rules []*ast.Rule) []rewriting {
	var out []rewriting
	for i, r := range w.rules {
		if slices.Contains(rules, r) {
			out = append(out, w.list[i])
		}
	}
	return out
}

func (e *env) pipelineDiff(c *cli.Context) error {
	_, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	roots, pipelines := repeated(c, "rules"), repeated(c, "pipeline")
	switch {
	case c.Args().Present():
		return configFaultf("pipeline diff takes no argument, got %q (rules are named by --rules)", c.Args().First())
	case len(roots) == 0:
		return configFaultf("no rules are named (--rules)")
	case len(pipelines) == 0:
		return configFaultf("no pipeline is named (--pipeline)")
	}
	w := &rewritings{ruleID: c.String("rule-id")}
	rules, err := loadRules(c.Context, ruleset.Options{Roots: roots, Pipelines: pipelines, Observe: w.observe})
	if err != nil {
		return err
	}
	if w.err != nil {
		return ruleFault(w.err)
	}
	e.reportOthers(rules, w.failed)
	switch {
	case !w.found && w.ruleID != "":
		return ruleFault(fmt.Errorf("No rule matched --rule-id %q", w.ruleID)) //nolint:staticcheck // scripts read the text
	case !w.found:
		return ruleFault(fmt.Errorf("no detection rule found in %s", strings.Join(roots, ", ")))
	}
	if err := printRewritings(out, w.usable(rules.Rules)); err != nil {
		return configFault(fmt.Errorf("%w: %w", errWrite, err))
	}
	if len(w.failed) > 0 {
		var errs []error
		for _, p := range w.failed {
			errs = append(errs, fmt.Errorf("Pipeline error for rule \"%s\": %s", p.Title, p.Reason)) //nolint:staticcheck // scripts read the text
		}
		return ruleFault(errors.Join(errs...))
	}
	return nil
}

// reportOthers prints problems as every command does, except the failed
// transformations, which end this one.
func (e *env) reportOthers(rules *ruleset.Rules, failed []ast.Problem) {
	others := *rules.Collection
	others.Rejected = slices.Clone(others.Rejected)
	for i := range others.Rejected {
		r := &others.Rejected[i]
		r.Problems = slices.DeleteFunc(slices.Clone(r.Problems), func(p ast.Problem) bool {
			return slices.ContainsFunc(failed, func(f ast.Problem) bool {
				return f.File == r.File && f.Document == r.Document && f.Reason == p.Reason
			})
		})
	}
	e.reportProblems(&ruleset.Rules{Collection: &others, Roots: rules.Roots, Notes: rules.Notes})
}

func printRewritings(out *console, list []rewriting) error {
	switch {
	case !out.explicit || out.format == formatTable:
		return printDiffs(out.Out, list)
	case out.format == formatJSON:
		if list == nil {
			list = []rewriting{}
		}
		return writeJSON(out.Out, list, out.pretty())
	case out.format == formatNDJSON:
		for i := range list {
			if err := writeJSON(out.Out, &list[i], false); err != nil {
				return err
			}
		}
		return nil
	}
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{
			r.Title, r.ID, strconv.FormatBool(r.Changed), strings.Join(r.Applied, ","), string(r.Before), string(r.After),
		})
	}
	return out.writeTable([]string{"RULE_TITLE", "RULE_ID", "CHANGED", "APPLIED_ITEMS", "BEFORE", "AFTER"}, rows)
}

// printDiffs is the form for people.
func printDiffs(out io.Writer, list []rewriting) error {
	for i, r := range list {
		var b bytes.Buffer
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(terminal.Printable(r.Title))
		if r.ID != "" {
			fmt.Fprintf(&b, " (%s)", terminal.Printable(r.ID))
		}
		b.WriteByte('\n')
		switch {
		case len(r.Applied) > 0:
			fmt.Fprintf(&b, "  transformations applied: %s\n", terminal.Printable(strings.Join(r.Applied, ", ")))
		case r.Changed:
			b.WriteString("  transformations applied (no ids recorded)\n")
		default:
			b.WriteString("  no transformations applied\n")
		}
		if !r.Changed {
			b.WriteString("  (no change)\n")
		} else if err := writeDiff(&b, r.Before, r.After); err != nil {
			return err
		}
		if _, err := out.Write(b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// writeDiff writes a unified diff of two JSON texts, indented by two blanks.
func writeDiff(out *bytes.Buffer, before, after []byte) error {
	var a, b bytes.Buffer
	if err := json.Indent(&a, before, "", "  "); err != nil {
		return err
	}
	if err := json.Indent(&b, after, "", "  "); err != nil {
		return err
	}
	a.WriteByte('\n')
	b.WriteByte('\n')
	const context = 2 // lines around a change
	diff, err := udiff.ToUnified("before", "after", a.String(), udiff.Lines(a.String(), b.String()), context)
	if err != nil {
		return err
	}
	for line := range strings.Lines(diff) {
		out.WriteString("  " + line)
	}
	return nil
}
