package load

import (
	"errors"
	"fmt"

	"github.com/sluicehq/sluice/internal/document"
)

// maxOverlay bounds the mapping levels of an overlay.
const maxOverlay = 64

var errOverlayDepth = fmt.Errorf("documents are merged deeper than %d mapping levels", maxOverlay)

// collection is what the documents of one file hand on to those behind them.
type collection struct {
	template *document.Node
	previous *document.Node
}

// next returns the document to parse, nil when there is none. root is a mapping.
func (c *collection) next(root *document.Node) (*document.Node, error) {
	action := root.Get("action")
	name, isString := action.Str()
	switch {
	case action == nil:
		merged, err := overlay(c.template, root, 1)
		if err != nil {
			return nil, err
		}
		c.previous = merged
		return merged, nil
	case !isString:
		return nil, errors.New("action must be a string: global, reset or repeat")
	}
	switch name {
	case "global":
		c.template = without(root, "action")
		return nil, nil
	case "reset":
		c.template = nil
		return nil, nil
	case "repeat":
		return c.repeat(without(root, "action"))
	}
	return nil, fmt.Errorf("unknown action %q (global, reset, repeat)", name)
}

func (c *collection) repeat(root *document.Node) (*document.Node, error) {
	if c.previous == nil {
		return nil, errors.New("action repeat without a document before it")
	}
	repeated, err := overlay(c.previous, root, 1)
	if err != nil {
		return nil, err
	}
	merged, err := overlay(c.template, repeated, 1)
	if err != nil {
		return nil, err
	}
	c.previous = merged
	return merged, nil
}

// overlay lays over on base: mappings merge key by key, anything else is
// replaced whole. Neither argument changes.
func overlay(base, over *document.Node, level int) (*document.Node, error) {
	if base == nil || base.Kind != document.Map || over.Kind != document.Map {
		return over, nil
	}
	if level > maxOverlay {
		return nil, errOverlayDepth
	}
	merged := &document.Node{Kind: document.Map, Line: over.Line}
	merged.Entries = append(merged.Entries, base.Entries...)
	for _, e := range over.Entries {
		i := entryOf(base, e.Key)
		if i < 0 {
			merged.Entries = append(merged.Entries, e)
			continue
		}
		value, err := overlay(base.Entries[i].Value, e.Value, level+1)
		if err != nil {
			return nil, err
		}
		merged.Entries[i] = document.Entry{Key: e.Key, Value: value}
	}
	return merged, nil
}

func entryOf(n *document.Node, key *document.Node) int {
	for i, e := range n.Entries {
		if e.Key.Kind == key.Kind && e.Key.IsScalar() && e.Key.Text == key.Text {
			return i
		}
	}
	return -1
}

func without(n *document.Node, key string) *document.Node {
	c := *n
	c.Entries = nil
	for _, e := range n.Entries {
		if e.Key.Kind != document.String || e.Key.Text != key {
			c.Entries = append(c.Entries, e)
		}
	}
	return &c
}
