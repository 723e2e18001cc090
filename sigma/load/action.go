package load

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/suggest"
)

// maxOverlay bounds the mapping levels of an overlay.
const maxOverlay = 64

// Budgets of the documents that a file makes of templates: some for every file, and so
// much for each of its bytes. A file of many collections can pay for each of them.
const (
	maxCopied       = 300_000 // entries that overlays copy; what stands below an entry is shared
	copiedPerByte   = 4
	maxRepeated     = 64 << 20 // bytes that every document has of its own
	repeatedPerByte = 64
)

// shared are the keys whose content documents of one template have in common. Of any
// other key the content is rendered, or followed, for each.
var shared = []string{"detection", "logsource", "description", "references", "falsepositives", "author", "license", "related"}

var errOverlayDepth = fmt.Errorf("documents are merged deeper than %d mapping levels", maxOverlay)

// collection is what the documents of one file hand on to those behind them.
type collection struct {
	size     int // bytes of the file
	template *document.Node
	previous *document.Node
	memory   memory // nil while there was no template
	copied   int    // entries of mappings, so far
	repeated int    // bytes that documents made of templates do not share, so far
	whole    int    // bytes of these documents with all that they share, so far
	sizes    map[*document.Node]int
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
	return nil, fmt.Errorf("unknown action %q (global, reset, repeat)%s", name, suggest.Behind(name, []string{"global", "reset", "repeat"}))
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
	if n, most := c.copied+len(base.Entries), maxCopied+copiedPerByte*c.size; n > most {
		return nil, fmt.Errorf("with this document 'action' merges %d keys into those of the file, the limit for its size is %d", n, most)
	}
	c.copied += len(base.Entries)
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
// when it is not.
func (c *collection) afford(merged *document.Node) string {
	if c.memory == nil {
		return ""
	}
	repeated, whole := c.repeated, c.whole
	for _, e := range merged.Entries {
		size := c.bytes(e.Value)
		whole += size
		if slices.Contains(shared, e.Key.Text) {
			size = bytesOfNode
		}
		repeated += size
	}
	if most := maxRepeated + repeatedPerByte*c.size; repeated > most {
		return fmt.Sprintf("with this document 'action' repeats %d bytes in those of the file, the limit for its size is %d", repeated, most)
	}
	c.repeated, c.whole = repeated, whole
	return ""
}

// bytesOfNode is about what a node takes beside its text.
const bytesOfNode = 32

// bytes is about what a node takes in every document that has it.
func (c *collection) bytes(n *document.Node) int {
	if n.IsScalar() {
		return bytesOfNode + len(n.Text)
	}
	if size, ok := c.sizes[n]; ok {
		return size
	}
	size := bytesOfNode
	for _, it := range n.Items {
		size += c.bytes(it)
	}
	for _, e := range n.Entries {
		size += c.bytes(e.Key) + c.bytes(e.Value)
	}
	if c.sizes == nil {
		c.sizes = make(map[*document.Node]int)
	}
	c.sizes[n] = size
	return size
}
