package checks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
)

// rules loads the rules as the start does and returns what it would refuse.
func (c *checking) rules(ctx context.Context) (problems config.Problems) {
	if len(c.d.Rules) == 0 || slices.Contains(c.d.Rules, "") {
		return nil // the value is reported already
	}
	for i, root := range c.d.Rules {
		if _, err := load.Find(ctx, []string{root}); err != nil {
			problems = append(problems, c.l.Problem(fmt.Sprintf("daemon.rules[%d]", i), err))
		}
	}
	if len(problems) > 0 {
		return problems
	}
	built, err := c.load(ctx)
	if err != nil {
		return config.Problems{c.l.Problem("daemon.rules", err)}
	}
	rejected := &c.warnings
	if built.Acceptable(c.d.Engine.StrictRules) != nil {
		rejected = &problems
	}
	for _, p := range built.Problems() {
		*rejected = append(*rejected, ofRule(ruleset.Placed(c.d.Rules, p)))
	}
	if len(built.Rejected) == 0 && !built.Usable() {
		c.warn("daemon.rules", errors.New(built.Nothing()))
	}
	return problems
}

// load builds the rule set if all else is good and no value of a source is needed, and else
// only reads the rules.
func (c *checking) load(ctx context.Context) (*ruleset.Rules, error) {
	if len(c.problems) > 0 || c.dynamic {
		return ruleset.Load(ctx, ruleset.Options{Roots: c.d.Rules})
	}
	built, err := ruleset.Build(ctx, c.l.DaemonRules(), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return built.Rules, nil
}

// ofRule is a problem of a rule document.
func ofRule(p ast.Problem) config.Problem {
	at := config.Problem{File: p.File, Line: p.Line}
	p.File, p.Line = "", 0
	at.Message = strings.TrimPrefix(p.Error(), ": ")
	return at
}
