package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/document"
)

// readEnviron reads the variables of the form SLUICE_SECTION__KEY into a layer. A
// bad one takes nothing else with it.
func (l *Loaded) readEnviron(environ []string) *layer {
	out := &layer{kind: LayerEnv}
	for _, kv := range slices.Sorted(slices.Values(environ)) {
		name, text, _ := strings.Cut(kv, "=")
		rest, ok := strings.CutPrefix(name, "SLUICE_")
		if !ok || !strings.Contains(rest, "__") {
			continue
		}
		out.name, out.decoder = "environment variable "+name, decoder{}
		out.parseVariable(l.root, strings.Split(strings.ToLower(rest), "__"), text)
		for _, p := range out.problems {
			key := cmp.Or(p.Key, strings.ToLower(strings.ReplaceAll(rest, "__", ".")))
			l.Ignored = append(l.Ignored, Problem{
				Message: fmt.Sprintf("%s is ignored: %s", out.name, p.Error()), variable: key,
				cause: fmt.Sprintf("%s cannot be read: %s; correct or unset it", out.name, p.Error()),
			})
		}
		l.note(out)
	}
	return out
}

// parseVariable reads the text of a variable whose name stands for path.
func (l *layer) parseVariable(root *field, path []string, text string) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		_, detail := document.Place(err)
		l.fault(&doc, "", errors.New(detail))
		return
	}
	if doc.Kind == 0 { // empty text: an empty string
		doc = yaml.Node{Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str"}}}
	}
	n, left := doc.Content[0], maxNodes
	if !l.sound(n, 0, &left) {
		return
	}
	for _, key := range slices.Backward(path) {
		n = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: key}, n}}
	}
	l.collect(root, n)
}
