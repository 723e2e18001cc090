package markdowntest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/sluicehq/sluice/graph/alert/bundle"
	"github.com/sluicehq/sluice/graph/catalog"
	rules "github.com/sluicehq/sluice/sigma/ast"
)

// payloads are texts that would be markup.
var payloads = map[string]string{
	"emphasis":                 "*a* **b** _c_ __d__",
	"a link":                   "[click](http://evil.example)",
	"an image":                 "![x](http://evil.example/x.png)",
	"a reference":              "[x]: http://evil.example",
	"an autolink":              "<http://evil.example>",
	"HTML":                     "<script>alert(1)</script>",
	"a comment":                "<!-- x",
	"a heading":                "x\n# Heading",
	"a heading behind a blank": "x\n\n# Heading\n\n",
	"a heading by a line":      "x\n===",
	"another by a line":        "x\n---",
	"a rule":                   "x\n\n---\n\ny",
	"a rule of stars":          "x\n\n***\n\ny",
	"a fence":                  "x\n~~~\ny",
	"a fence at once":          "~~~ x",
	"a fence of backticks":     "x\n```\ny",
	"code":                     "`a`",
	"an end of a code span":    "a` # b `c",
	"a quotation":              "x\n> y",
	"a table":                  "a | b\n--- | ---\nc | d",
	"a backslash":              `a\`,
	"a backslash and a star":   `\*a\*`,
	"a carriage return":        "x\r# Heading",
	"a line of Windows":        "x\r\n# Heading",
	"many backticks":           "``` ` ``",
}

// places are where a payload may come from.
var places = map[string]func(payload string) (incident map[string]any, rule rules.Meta, entity bundle.Entity){
	"a value of the group": func(p string) (map[string]any, rules.Meta, bundle.Entity) {
		return map[string]any{"group_by": map[string]any{"match.User": p}}, rules.Meta{}, bundle.Entity{}
	},
	"a list in the group": func(p string) (map[string]any, rules.Meta, bundle.Entity) {
		return map[string]any{"group_by": map[string]any{"match.User": []string{p}}}, rules.Meta{}, bundle.Entity{}
	},
	"a selector": func(p string) (map[string]any, rules.Meta, bundle.Entity) {
		return map[string]any{"group_by": map[string]any{"match." + p: "x"}}, rules.Meta{}, bundle.Entity{}
	},
	"an entity": func(p string) (map[string]any, rules.Meta, bundle.Entity) {
		return map[string]any{"entities": map[string]any{"match.User": []string{"x", p}}}, rules.Meta{}, bundle.Entity{}
	},
	"a key of a rule": func(p string) (map[string]any, rules.Meta, bundle.Entity) {
		return map[string]any{"rule_counts": map[string]int{"0" + p: 1, "r": 2}}, rules.Meta{}, bundle.Entity{}
	},
	"a title": func(p string) (map[string]any, rules.Meta, bundle.Entity) {
		return nil, rules.Meta{Title: p}, bundle.Entity{}
	},
	"a tag": func(p string) (map[string]any, rules.Meta, bundle.Entity) {
		return nil, rules.Meta{Tags: []string{p}}, bundle.Entity{}
	},
	"a description": func(p string) (map[string]any, rules.Meta, bundle.Entity) {
		return nil, rules.Meta{Description: p}, bundle.Entity{}
	},
	"a false positive": func(p string) (map[string]any, rules.Meta, bundle.Entity) {
		return nil, rules.Meta{FalsePositives: []string{p, "next"}}, bundle.Entity{}
	},
	"an attribute": func(p string) (map[string]any, rules.Meta, bundle.Entity) {
		return nil, rules.Meta{Attributes: map[string]any{"sluice.ads.response": p}}, bundle.Entity{}
	},
	"the type of an entity with risk": func(p string) (map[string]any, rules.Meta, bundle.Entity) {
		return nil, rules.Meta{}, bundle.Entity{Type: p, Value: "x"}
	},
	"the value of an entity with risk": func(p string) (map[string]any, rules.Meta, bundle.Entity) {
		return nil, rules.Meta{}, bundle.Entity{Type: "x", Value: p}
	},
}

func document(t *testing.T, place, payload string) []byte {
	t.Helper()
	more, meta, entity := places[place](payload)
	incident := map[string]any{"incident_id": "i", "state": "open", "max_level": "high", "result_count": 2, "rule_counts": map[string]int{"r": 2}, "sample_mode": "results"}
	for key, value := range more {
		incident[key] = value
	}
	meta.ID = "r"
	if meta.Title == "" {
		meta.Title = "title"
	}
	if entity.Type == "" {
		entity.Type, entity.Value = "user", "alice"
	}
	incident["results"] = []any{map[string]any{"enrichments": map[string]any{"risk.objects": []any{map[string]string{"type": entity.Type, "value": entity.Value}}}}}
	snapshot, err := json.Marshal(incident)
	if err != nil {
		t.Fatal(err)
	}
	c := catalog.New([]*rules.Rule{{Meta: meta}}, nil, func(file string) string { return file }, nil)
	b, err := bundle.New(snapshot, c, []bundle.Entity{entity}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return b.Markdown()
}

// shape is every node of the document that is more than text, with the level of headings.
func shape(source []byte) []string {
	var all []string
	root := goldmark.New(goldmark.WithExtensions(extension.Table, extension.TaskList, extension.Footnote)).Parser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text, *ast.String, *ast.Paragraph, *ast.TextBlock: // a text of several paragraphs may have more of them
		case *ast.Heading:
			all = append(all, fmt.Sprint("Heading ", n.Level))
		default:
			all = append(all, n.Kind().String())
		}
		return ast.WalkContinue, nil
	})
	return all
}

// A document with a payload has the same parts as one with a plain word in its place.
func TestNoTextBecomesMarkup(t *testing.T) {
	for place := range places {
		want := strings.Join(shape(document(t, place, "plain")), ", ")
		if !strings.Contains(want, "Heading 1") || !strings.Contains(want, "CodeSpan") || !strings.Contains(want, "Emphasis") {
			t.Fatalf("%s: the document has %s", place, want)
		}
		for name, payload := range payloads {
			source := document(t, place, payload)
			if got := strings.Join(shape(source), ", "); got != want {
				t.Errorf("%s in %s: got %s, want %s; document:\n%s", name, place, got, want, source)
			}
		}
	}
}
