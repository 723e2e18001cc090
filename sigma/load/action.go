package load

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/internal/document"
)

// maxOverlay bounds the mapping levels of an overlay.
const maxOverlay = 64

// maxCopied bounds the entries that overlays of one file copy. What stands below an
// entry is shared.
const maxCopied = 1_000_000

// maxRelated bounds the nodes of the correlations that a file makes of templates.
const maxRelated = 1_000_000

var errOverlayDepth = fmt.Errorf("documents are merged deeper than %d mapping levels", maxOverlay)

// collection is what the documents of one file hand on to those behind them.
type collection struct {
	template *document.Node
	previous *document.Node
	memory   memory // nil while there was no template
	copied   int    // entries of mappings, so far
	related  int    // nodes of the correlations made of templates, so far
}

// next returns the document to parse, nil when there is none. root is a mapping.
func (c *collection) next(root *document.Node) (*document.Node, error) {
	action := root.Get("action")
	name, isString := action.Str()
	switch {
	case action == nil:
		merged, err := c.overlay(c.template, root, 1)
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
		c.remember()
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
	c.remember()
	repeated, err := c.overlay(c.previous, root, 1)
	if err != nil {
		return nil, err
	}
	merged, err := c.overlay(c.template, repeated, 1)
	if err != nil {
		return nil, err
	}
	c.previous = merged
	return merged, nil
}

func (c *collection) remember() {
	if c.memory == nil {
		c.memory = make(memory)
	}
}

// overlay lays over on base: mappings merge key by key, anything else is
// replaced whole. Neither argument changes; the outcome shares what it can.
func (c *collection) overlay(base, over *document.Node, level int) (*document.Node, error) {
	if base == nil || base.Kind != document.Map || over.Kind != document.Map {
		return over, nil
	}
	if level > maxOverlay {
		return nil, errOverlayDepth
	}
	if c.copied += len(base.Entries); c.copied > maxCopied {
		return nil, fmt.Errorf("'action' merges %d keys into the documents of this file so far, the limit is %d", c.copied, maxCopied)
	}
	entries := make([]document.Entry, len(base.Entries), len(base.Entries)+len(over.Entries))
	copy(entries, base.Entries)
	at := entriesOf(base)
	for _, e := range over.Entries {
		i := at(e.Key)
		if i < 0 {
			entries = append(entries, e)
			continue
		}
		value, err := c.overlay(base.Entries[i].Value, e.Value, level+1)
		if err != nil {
			return nil, err
		}
		entries[i] = document.Entry{Key: e.Key, Value: value}
	}
	return document.Mapping(over.Line, entries), nil
}

// entriesOf finds the entry of a mapping that has a key, -1 for none.
func entriesOf(n *document.Node) func(key *document.Node) int {
	const few = 16
	type name struct {
		kind document.Kind
		text string
	}
	if len(n.Entries) <= few {
		return func(key *document.Node) int {
			return slices.IndexFunc(n.Entries, func(e document.Entry) bool {
				return e.Key.Kind == key.Kind && e.Key.IsScalar() && e.Key.Text == key.Text
			})
		}
	}
	at := make(map[name]int, len(n.Entries))
	for i, e := range n.Entries {
		if e.Key.IsScalar() {
			at[name{e.Key.Kind, e.Key.Text}] = i
		}
	}
	return func(key *document.Node) int {
		if i, ok := at[name{key.Kind, key.Text}]; ok && key.IsScalar() {
			return i
		}
		return -1
	}
}

func without(n *document.Node, key string) *document.Node {
	var entries []document.Entry
	for _, e := range n.Entries {
		if e.Key.Kind != document.String || e.Key.Text != key {
			entries = append(entries, e)
		}
	}
	return document.Mapping(n.Line, entries)
}

// afford adds a document to the cost of the file. It returns why that is too much, empty
// when it is not: what correlations refer to is found for each of them.
func (c *collection) afford(merged *document.Node) string {
	if c.memory == nil {
		return ""
	}
	if c.related += merged.Get("correlation").Size(); c.related > maxRelated {
		return fmt.Sprintf("'action' makes correlations of %d nodes in this file so far, the limit is %d", c.related, maxRelated)
	}
	return ""
}
