package pipeline

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// replaceString edits values by a regular expression.
type replaceString struct {
	re          *regexp.Regexp
	replacement string // in the syntax of regexp.Expand
	skipSpecial bool
}

func readReplaceString(p *params) (transformation, error) {
	pattern, err := p.requiredStr("regex")
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("invalid replace_string regex '%s': %w", pattern, err)
	}
	if !p.has("replacement") {
		return nil, errMissing("replacement")
	}
	replacement, err := p.str("", "replacement")
	if err != nil {
		return nil, err
	}
	skip, err := p.boolean("skip_special")
	return replaceString{re, expandSyntax(replacement), skip}, err
}

var groupReference = regexp.MustCompile(`\\g<(\w+)>|\\(\d+)|\$(\d+)`)

// expandSyntax turns \1 and \g<name> into ${1} and ${name}. $1 gets braces, so
// that letters behind it are text as they are elsewhere.
func expandSyntax(s string) string {
	// "$$" is a dollar sign; what follows it is no reference.
	pieces := strings.Split(s, "$$")
	for i, p := range pieces {
		pieces[i] = groupReference.ReplaceAllString(p, "$${$1$2$3}")
	}
	return strings.Join(pieces, "$$")
}

func (t replaceString) apply(c *call) error {
	return c.eachValue(true, func(it *ast.Item, v ast.Value) ([]ast.Value, bool, error) {
		if v.Kind != ast.String || raw(it) {
			return same(v)
		}
		if t.skipSpecial {
			return changeLiterals(v, func(s string) string { return t.re.ReplaceAllString(s, t.replacement) })
		}
		w := ast.StringValue(t.re.ReplaceAllString(v.Text, t.replacement))
		return []ast.Value{w}, w.Text != v.Text, nil
	})
}
