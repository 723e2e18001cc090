package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
)

// item is one entry of transformations: what to do, and the three groups of
// conditions that say where.
type item struct {
	id     string
	kind   string // its type
	where  string // place in the document, for messages
	rule   group[ruleCondition]
	detect group[itemCondition]
	field  group[fieldCondition]
	act    transformation
}

// transformation is what an item does to a rule.
type transformation interface {
	apply(c *call) error
}

// reader turns document nodes into items.
type reader struct {
	pipeline *Pipeline
	included bool // what is read came in by an include
}

// itemKeys may stand beside those of any transformation.
var itemKeys = []string{
	"type", "id",
	"rule_conditions", "rule_cond_op", "rule_cond_expr", "rule_cond_expression", "rule_cond_not",
	"detection_item_conditions", "detection_item_cond_op", "detection_item_cond_expr", "detection_item_cond_expression", "detection_item_cond_not",
	"field_name_conditions", "field_name_cond_op", "field_name_cond_expr", "field_name_cond_expression", "field_name_cond_not",
}

func (r *reader) items(nodes []*document.Node, where string, nested bool) ([]*item, error) {
	out := make([]*item, 0, len(nodes))
	for i, n := range nodes {
		at := fmt.Sprintf("%s[%d]", where, i)
		it, err := r.item(n, at, nested)
		if err != nil {
			return nil, atLine(n.Line, fmt.Errorf("%s: %w", at, err))
		}
		out = append(out, it)
	}
	return out, nil
}

func (r *reader) item(n *document.Node, where string, nested bool) (*item, error) {
	if n.Kind != document.Map {
		return nil, errors.New("transformation must be a mapping")
	}
	it := &item{where: where}
	var err error
	if id := n.Get("id"); id != nil && id.Kind != document.Null {
		if it.id, err = text(id, "id"); err != nil {
			return nil, err
		}
		it.where = fmt.Sprintf("%s '%s'", where, it.id)
	}
	typ, hasType := n.Get("type").Str()
	directive := false
	if text, ok := n.Get("include").Str(); ok && (!hasType || typ == "include") {
		switch {
		case r.included:
			return nil, errors.New("include is not allowed in what is included")
		case nested:
			return nil, errors.New("include is not allowed inside nest")
		}
		ref, err := includeRef(text)
		if err != nil {
			return nil, err
		}
		r.pipeline.Dynamic, directive = true, true
		it.kind, it.act = "include", &include{ref: ref}
	}
	if !hasType && !directive {
		return nil, errors.New("transformation must have a 'type' field")
	}
	if !directive {
		it.kind = typ
	}
	if it.rule, err = readGroup(r, n, it.where, "rule", "rule condition", readRuleCondition); err != nil {
		return nil, err
	}
	if it.detect, err = readGroup(r, n, it.where, "detection_item", "detection item condition", readItemCondition); err != nil {
		return nil, err
	}
	if it.field, err = readGroup(r, n, it.where, "field_name", "field name condition", readFieldCondition); err != nil {
		return nil, err
	}
	p := &params{reader: r, node: n, where: it.where, known: slices.Clone(itemKeys)}
	if directive {
		p.known = append(p.known, "include")
	} else if it.act, err = readTransformation(typ, p); err != nil {
		return nil, err
	}
	if n.Get("include") != nil && !slices.Contains(p.known, "include") {
		return nil, fmt.Errorf("'include' does not go with type %s", typ)
	}
	p.warnUnknown()
	if nested || r.included {
		return it, nil // the item around it has warned, and what is included is data
	}
	for _, e := range n.Entries {
		if key := e.Key.Text; key != "include" || !directive {
			r.pipeline.warnElsewhere(e.Value, it.where, key)
		}
	}
	return it, nil
}

// params gives a transformation its keys, with errors that name them.
type params struct {
	reader *reader
	node   *document.Node
	where  string
	known  []string
}

// warnUnknown tells of the keys that nobody asked for.
func (p *params) warnUnknown() {
	for _, e := range p.node.Entries {
		if !slices.Contains(p.known, e.Key.Text) {
			p.reader.pipeline.warn("%s: unknown key '%s' is ignored", p.where, e.Key.Text)
		}
	}
}

// get returns the value under the first of the names that is present and not
// null.
func (p *params) get(names ...string) *document.Node {
	p.known = append(p.known, names...)
	for _, name := range names {
		if v := p.node.Get(name); v != nil && v.Kind != document.Null {
			return v
		}
	}
	return nil
}

func (p *params) has(name string) bool {
	p.known = append(p.known, name)
	return p.node.Get(name) != nil
}

func (p *params) str(fallback string, names ...string) (string, error) {
	v := p.get(names...)
	if v == nil {
		return fallback, nil
	}
	return text(v, names[0])
}

func (p *params) requiredStr(name string) (string, error) {
	v := p.get(name)
	if v == nil {
		return "", fmt.Errorf("missing required key '%s'", name)
	}
	return text(v, name)
}

func (p *params) boolean(name string) (bool, error) {
	v := p.get(name)
	if v == nil {
		return false, nil
	}
	if v.Kind != document.Bool {
		return false, fmt.Errorf("'%s' must be true or false", name)
	}
	return v.Text == "true", nil
}

// list reads a string or a list of scalars; nil when the key is absent.
func (p *params) list(names ...string) ([]string, error) {
	v := p.get(names...)
	if v == nil {
		return nil, nil
	}
	return textList(v, names[0])
}

func textList(v *document.Node, key string) ([]string, error) {
	nodes := v.Items
	if v.Kind != document.List {
		nodes = []*document.Node{v}
	}
	out := make([]string, 0, len(nodes))
	for _, n := range nodes {
		s, err := text(n, key)
		if err != nil {
			return nil, fmt.Errorf("'%s' must be a string or a list of strings", key)
		}
		out = append(out, s)
	}
	return out, nil
}

// oneOf reads a key with a fixed set of values; spellings maps each to its meaning.
func (p *params) oneOf(fallback string, spellings map[string]string, names ...string) (string, error) {
	s, err := p.str(fallback, names...)
	if err != nil {
		return "", err
	}
	if meaning, ok := spellings[s]; ok {
		return meaning, nil
	}
	var allowed []string
	for k := range spellings {
		if k != "" {
			allowed = append(allowed, k)
		}
	}
	slices.Sort(allowed)
	return "", fmt.Errorf("'%s': unknown value '%s' (%s)", names[0], s, strings.Join(allowed, ", "))
}
