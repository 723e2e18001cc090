package config

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
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
		read, err := l.readVariable(name, strings.Split(strings.ToLower(rest), "__"), text)
		if err != nil {
			l.Warnings = append(l.Warnings, fmt.Sprintf("environment variable %s is ignored: %v", name, err))
			continue
		}
		layers = append(layers, read)
	}
	return mergeReplaced(layers)
}

func (l *Loaded) readVariable(name string, path []string, text string) (*layer, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, yamlError(err)
	}
	if doc.Kind == 0 { // empty text: an empty string
		doc = yaml.Node{Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str"}}}
	}
	n := doc.Content[0]
	left := maxNodes
	if err := sound(n, 0, &left); err != nil {
		return nil, err
	}
	for _, key := range slices.Backward(path) {
		n = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: key}, n}}
	}
	read := &layer{kind: LayerEnv, origin: "environment variable " + name}
	if err := read.collect(l.root, n); err != nil {
		return nil, err
	}
	l.note(read)
	return read, nil
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
