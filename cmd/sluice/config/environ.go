package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/document"
)

// readEnviron reads the variables of the form SLUICE_SECTION__KEY. Each is a
// layer of its own, so that a bad one takes nothing else with it.
func (l *Loaded) readEnviron(environ []string) []*layer {
	var layers []*layer
	for _, kv := range slices.Sorted(slices.Values(environ)) {
		name, text, _ := strings.Cut(kv, "=")
		rest, ok := strings.CutPrefix(name, "SLUICE_")
		if !ok || !strings.Contains(rest, "__") {
			continue
		}
		read := &layer{kind: LayerEnv, name: "environment variable " + name}
		read.parseVariable(l.root, strings.Split(strings.ToLower(rest), "__"), text)
		if len(read.problems) > 0 {
			p := read.problems[0]
			p.Line = 0
			l.warn(Problem{Message: fmt.Sprintf("environment variable %s is ignored: %s", name, p.Error())})
			continue
		}
		l.note(read)
		layers = append(layers, read)
	}
	return mergeReplaced(layers)
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

// mergeReplaced lets variables that name parts of one replaced section, such as
// two keys of daemon.api.audit, act as the one layer they are: only the first
// empties the section.
func mergeReplaced(layers []*layer) []*layer {
	emptied := make(map[string]bool)
	for _, one := range layers {
		one.settings = slices.DeleteFunc(one.settings, func(s setting) bool {
			if s.value.IsValid() {
				return false
			}
			again := emptied[s.path()]
			emptied[s.path()] = true
			return again
		})
	}
	return layers
}
