package command

import (
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/result"
)

// keywords are those that rules search all texts of events for, by load index and name
// of the detection.
type keywords map[keywordsOf][]ast.Value

type keywordsOf struct {
	rule      int
	detection string
}

func newKeywords(rules []*ast.Rule) keywords {
	k := make(keywords)
	for i, r := range rules {
		for _, d := range r.Detections {
			of := keywordsOf{i, d.Name}
			d.Node.Walk(func(n *ast.Node) bool {
				for _, item := range n.Items {
					if item.Field == "" || item.Field == "." {
						k[of] = append(k[of], item.Values...)
					}
				}
				return true
			})
		}
	}
	return k
}

// found returns the keyword of a detection that was found in a text, as the rule writes
// it; "" when it does not stand there as written.
func (k keywords) found(d *result.Detection, m *result.Match, text string) string {
	values := k[keywordsOf{d.Rule.Index, m.Selection}]
	if len(values) == 1 {
		return values[0].Text
	}
	if !m.CaseSensitive {
		text = event.Fold(text)
	}
	for _, v := range values {
		if standsIn(v, m.CaseSensitive, text) {
			return v.Text
		}
	}
	return ""
}

// standsIn reports whether a text has the literal parts of v, in order.
func standsIn(v ast.Value, cased bool, text string) bool {
	parts := v.Parts
	if v.Kind != ast.String {
		parts = []ast.Part{{Kind: ast.Literal, Text: v.Text}}
	}
	for _, p := range parts {
		if p.Kind != ast.Literal {
			continue
		}
		literal := p.Text
		if !cased {
			literal = event.Fold(literal)
		}
		_, rest, ok := strings.Cut(text, literal)
		if !ok {
			return false
		}
		text = rest
	}
	return true
}
