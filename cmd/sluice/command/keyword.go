package command

import (
	"regexp"
	"strings"
	"sync"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

// keywords are those that rules search all texts of events for, by load index and name
// of the detection. Any number of goroutines may use them.
type keywords map[keywordsOf][]keyword

type keywordsOf struct {
	rule      int
	detection string
}

// keyword is an expression that finds what a keyword stands for. It is made when it is
// first asked for, as few of them ever are; nil when no expression can say it.
type keyword func() *regexp.Regexp

func newKeywords(rules []*ast.Rule) keywords {
	k := make(keywords)
	for i, r := range rules {
		for _, d := range r.Detections {
			of := keywordsOf{i, d.Name}
			d.Node.Walk(func(n *ast.Node) bool {
				for _, item := range n.Items {
					if item.Field != "" && item.Field != "." {
						continue
					}
					for _, v := range item.Values {
						k[of] = append(k[of], sync.OnceValue(func() *regexp.Regexp { return expression(item.Modifiers, v) }))
					}
				}
				return true
			})
		}
	}
	return k
}

// found returns what of a text the first keyword of a detection is that stands there, as
// it stands there; "" when that cannot be told, as with encoded keywords.
func (k keywords) found(d *result.Detection, m *result.Match, text string) string {
	for _, word := range k[keywordsOf{d.Rule.Index, m.Selection}] {
		if e := word(); e != nil {
			if found := e.FindString(text); found != "" {
				return found
			}
		}
	}
	return ""
}

// comparing are the modifiers that say where a keyword may stand and how it is compared.
// With any other the text of the event is not what the rule writes.
const comparing = ast.StringOperators | ast.RegexFlags | ast.Modifiers(ast.All|ast.Cased|ast.Re)

// expression matches what a keyword matches.
func expression(m ast.Modifiers, v ast.Value) *regexp.Regexp {
	if m&^comparing != 0 {
		return nil
	}
	flags, text := "s", ""
	if m.Has(ast.Re) {
		if flags, text = "", v.Text; m.Has(ast.RegexMultiline) {
			flags = "m"
		}
		if m.Has(ast.RegexDotAll) {
			flags += "s"
		}
	} else if text = wildcards(v); m.Has(ast.StartsWith) {
		text = "^(?:" + text + ")"
	} else if m.Has(ast.EndsWith) {
		text = "(?:" + text + ")$"
	}
	if m.Has(ast.RegexIgnoreCase) || !m.Has(ast.Cased) && !m.Has(ast.Re) {
		flags += "i"
	}
	if flags != "" {
		text = "(?" + flags + ")" + text
	}
	e, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	return e
}

// wildcards writes a text with wildcards as an expression.
func wildcards(v ast.Value) string {
	if v.Kind != ast.String {
		return regexp.QuoteMeta(v.Text)
	}
	var b strings.Builder
	for i, p := range v.Parts {
		switch {
		case p.Kind == ast.Literal:
			b.WriteString(regexp.QuoteMeta(p.Text))
		case p.Kind == ast.One:
			b.WriteByte('.')
		case i > 0 && i < len(v.Parts)-1: // at an end it says nothing of what was found
			b.WriteString(".*?")
		}
	}
	return b.String()
}
