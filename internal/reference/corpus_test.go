package reference_test

import (
	"io/fs"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
)

// corpus loads all of rules/.
func corpus(tb testing.TB) []*ast.Rule {
	tb.Helper()
	sub, err := fs.Sub(sigmatest.RuleArchive(tb), "rules")
	if err != nil {
		tb.Fatal(err)
	}
	c, err := load.FromFS(sub, load.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	for _, p := range c.Problems() {
		tb.Errorf("rejected: %v", p)
	}
	return c.Rules
}
