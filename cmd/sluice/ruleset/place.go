package ruleset

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Place is the path of a file below roots that problems call name: it can be opened
// from the working directory. One root does not show in names.
func Place(roots []string, name string) string {
	if len(roots) != 1 || name == "" {
		return name
	}
	if info, err := os.Stat(roots[0]); err == nil && !info.IsDir() {
		return roots[0]
	}
	return filepath.Join(roots[0], filepath.FromSlash(name))
}

// Placed is the problem of a document below roots with the Place of its file, and of the
// other one that it names.
func Placed(roots []string, p ast.Problem) ast.Problem {
	if p.Other != "" {
		p.Reason = strings.Replace(p.Reason, p.Other, Place(roots, p.Other), 1)
	}
	p.File = Place(roots, p.File)
	return p
}
