package fetch

import (
	"bytes"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/document"
)

// written is a scalar under a key as it stands in the file: 1.10 and not 1.1. index is its
// place in the list or mapping below the key, -1 for the value of the key itself.
func (r *reader) written(key string, index int, isKey bool, n *document.Node) string {
	if n.Kind == document.String {
		return n.Text
	}
	list := under(r.tree(), "sources")
	if list == nil || r.index >= len(list.Content) {
		return keyOf(n) // a file in which the two readers differ
	}
	at := under(target(list.Content[r.index]), key)
	switch {
	case at == nil || index < 0:
	case at.Kind == yaml.MappingNode && isKey:
		index *= 2
	case at.Kind == yaml.MappingNode:
		index = 2*index + 1
	}
	if at != nil && index >= 0 {
		if index >= len(at.Content) {
			return keyOf(n)
		}
		at = target(at.Content[index])
	}
	if at == nil || at.Kind != yaml.ScalarNode {
		return keyOf(n)
	}
	return at.Value
}

// tree is the file as the parser of YAML has it; nil if that cannot read it.
func (f *file) tree() *yaml.Node {
	if f.parsed {
		return f.root
	}
	f.parsed = true
	defer func() { _ = recover() }() // a defect of the parser must not end the process
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(f.data)).Decode(&doc); err == nil && len(doc.Content) > 0 {
		f.root = doc.Content[0]
	}
	return f.root
}

// under returns the value of a key, nil if there is none.
func under(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return target(n.Content[i+1])
		}
	}
	return nil
}

// target is what an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
