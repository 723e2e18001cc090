package load

import (
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load/internal/check"
)

// Check finds what keeps a rule from being compiled, filters included, and what
// its author should know. Load has done it for every rule it returns; a rule
// that pipelines rewrote since needs it again.
func Check(rule *ast.Rule) (problems, warnings []ast.Problem) {
	problems, warnings = check.Rule(rule, check.Options{})
	inFilters, aboutFilters := check.Filters(rule)
	problems, warnings = append(problems, inFilters...), append(warnings, aboutFilters...)
	m := &rule.Meta
	for _, list := range [][]ast.Problem{problems, warnings} {
		for i := range list {
			list[i].File, list[i].Document, list[i].Title, list[i].ID = m.Origin.File, m.Origin.Document, m.Title, m.ID
		}
	}
	return problems, warnings
}
