package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/sigma/ast"
)

// renamer gives the new names of a field; nil leaves it as it is.
type renamer interface {
	rename(name string) []string
}

// renaming is a transformation of field names.
type renaming struct {
	renamer
	keywords []string // targets of keyword blocks, of the mapping key null
}

// member is the field name of an array member itself, which no renaming touches.
const member = "."

func (t renaming) apply(c *call) error {
	renamePaths(c, t.renamer)
	err := rewriteRule(c.rule, func(_ *ast.Node, it ast.Item) (replacement, error) {
		if !c.touches(&it) {
			return kept, nil
		}
		if it.Field == "" {
			return t.keyword(c, it), nil
		}
		return t.item(c, it), nil
	})
	if err != nil {
		return err
	}
	c.rule.Fields = renameList(c, t.renamer, c.rule.Fields)
	return nil
}

// item renames the field, and the fields that values name.
func (t renaming) item(c *call, it ast.Item) replacement {
	changed := false
	if it.Modifiers.HasAny(referring) {
		it, changed = t.references(c, it)
	}
	var targets []string
	if it.Field != member && c.groups(func(w *item) bool { return w.fieldNameHolds(c.run, it.Field, &it) }) {
		targets = t.rename(it.Field)
	}
	if targets == nil && !changed {
		return kept
	}
	c.mark(&it)
	if targets == nil {
		return renamed(it)
	}
	c.markName(&it)
	out := replacement{}
	for i, name := range targets {
		copied := it
		copied.Field, copied.Paths = name, renamedPaths(t.renamer, it.Paths, i)
		copied.Values = slices.Clone(it.Values)
		out.alternatives = append(out.alternatives, []ast.Item{copied})
	}
	return out
}

// keyword turns a keyword block into fields where the mapping says so.
func (t renaming) keyword(c *call, it ast.Item) replacement {
	if len(t.keywords) == 0 {
		return kept
	}
	c.mark(&it)
	c.markName(&it)
	if !it.Modifiers.Has(ast.Re) {
		it.Values = slices.Clone(it.Values)
		for i, v := range it.Values {
			if v.Kind == ast.String {
				it.Values[i] = surround(v)
			}
		}
	}
	out := replacement{}
	for _, name := range t.keywords {
		copied := it
		copied.Field, copied.Values = name, slices.Clone(it.Values)
		out.alternatives = append(out.alternatives, []ast.Item{copied})
	}
	return out
}

// surround puts a star at each end of a value that has none there.
func surround(v ast.Value) ast.Value {
	many := ast.Part{Kind: ast.Many}
	parts := slices.Clone(v.Parts)
	if len(parts) == 0 || parts[0] != many {
		parts = append([]ast.Part{many}, parts...)
	}
	if len(parts) < 2 || parts[len(parts)-1] != many {
		parts = append(parts, many)
	}
	return partsValue(parts)
}

// markName notes that the item's field name is the product of the item at work.
func (c *call) markName(it *ast.Item) {
	if c.item.id != "" {
		it.Applied = append(slices.Clone(it.Applied), renamedBy(c.item.id))
	}
}

// renamePaths renames the arrays of array blocks. Several targets give a
// disjunction of blocks.
func renamePaths(c *call, t renamer) {
	eachDetection(c.rule, func(d *ast.Detection) { d.Node = renamePath(c, t, d.Node) })
}

func renamePath(c *call, t renamer, n *ast.Node) *ast.Node {
	out := n
	for i, below := range n.Nodes {
		if m := renamePath(c, t, below); m != below {
			out = owned(out, n)
			out.Nodes[i] = m
		}
	}
	for i := range n.Detections {
		if m := renamePath(c, t, n.Detections[i].Node); m != n.Detections[i].Node {
			out = owned(out, n)
			out.Detections[i].Node = m
		}
	}
	if n.Kind != ast.KindArray || n.Path == "" || !c.renamesField(n.Path) {
		return out
	}
	targets := t.rename(n.Path)
	c.produced(targets...)
	if len(targets) == 0 {
		return out
	}
	any := &ast.Node{Kind: ast.KindAny, Line: n.Line}
	for _, name := range targets {
		copied := *out
		copied.Path = name
		any.Nodes = append(any.Nodes, &copied)
	}
	if len(targets) == 1 {
		return any.Nodes[0]
	}
	return any
}

func renameList(c *call, t renamer, names []string) []string {
	var out []string
	for _, name := range names {
		if targets := t.rename(name); targets != nil && c.mayRename(name) {
			out = append(out, targets...)
			c.produced(targets...)
			continue
		}
		out = append(out, name)
	}
	return out
}

// named drops empty names: an item without a name would be a keyword search.
func named(names []string) []string {
	if !slices.Contains(names, "") {
		return names
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	if len(names) == 0 {
		return nil
	}
	return names
}

type mapping struct{ names map[string][]string }

func (m mapping) rename(name string) []string { return named(m.names[name]) }

func readMapping(p *params) (transformation, error) {
	entries, err := p.targets("mapping")
	if err != nil {
		return nil, err
	}
	t := renaming{}
	m := mapping{names: map[string][]string{}}
	for _, e := range entries {
		if e.null {
			t.keywords = named(e.to)
			continue
		}
		m.names[e.from] = e.to
	}
	t.renamer = m
	return t, nil
}

// target is one entry of a mapping of names.
type target struct {
	from string
	null bool // the key is null
	to   []string
}

// targets reads a mapping of a name to a name or a list of names. Targets that
// are no strings are dropped with a warning, and so is a key without any.
func (p *params) targets(key string) ([]target, error) {
	p.known = append(p.known, key)
	n := p.node.Get(key)
	if n == nil {
		return nil, errMissing(key)
	}
	if n.Kind == document.Null {
		return nil, nil
	}
	if n.Kind != document.Map {
		return nil, fmt.Errorf("'%s' must be a mapping", key)
	}
	var out []target
	for _, e := range n.Entries {
		t := target{from: e.Key.Text, null: e.Key.Kind == document.Null}
		values := e.Value.Items
		if e.Value.Kind != document.List {
			values = []*document.Node{e.Value}
		}
		for _, v := range values {
			if s, ok := v.Str(); ok {
				t.to = append(t.to, s)
			} else {
				p.reader.pipeline.warn("%s: %s of '%s' has a target that is no string, dropped", p.where, key, t.from)
			}
		}
		if len(t.to) == 0 {
			p.reader.pipeline.warn("%s: %s of '%s' has no target and does nothing", p.where, key, t.from)
			continue
		}
		out = append(out, t)
	}
	return out, nil
}

// prefixMapping replaces the first key, in declared order, that begins a name.
type prefixMapping []target

func (m prefixMapping) rename(name string) []string {
	for _, t := range m {
		if rest, ok := strings.CutPrefix(name, t.from); ok {
			var out []string
			for _, to := range t.to {
				out = append(out, to+rest)
			}
			return named(out)
		}
	}
	return nil
}

func readPrefixMapping(p *params) (transformation, error) {
	entries, err := p.targets("mapping")
	return renaming{renamer: prefixMapping(entries)}, err
}

type affix struct{ prefix, suffix string }

func (a affix) rename(name string) []string { return []string{a.prefix + name + a.suffix} }

func readAffix(typ string, p *params) (transformation, error) {
	key := strings.TrimPrefix(typ, "field_name_")
	s, err := p.requiredStr(key)
	if err != nil {
		return nil, err
	}
	if key == "prefix" {
		return renaming{renamer: affix{prefix: s}}, nil
	}
	return renaming{renamer: affix{suffix: s}}, nil
}

type nameTransform struct {
	change func(string) string
	names  map[string]string
}

func (t nameTransform) rename(name string) []string {
	if to, ok := t.names[name]; ok {
		return []string{to}
	}
	return named([]string{t.change(name)})
}

func readNameTransform(p *params) (transformation, error) {
	kind, err := p.oneOf("lower", map[string]string{
		"lower": "lower", "lowercase": "lower", "upper": "upper", "uppercase": "upper", "title": "title", "snake_case": "snake",
	}, "transform_func")
	if err != nil {
		return nil, err
	}
	t := nameTransform{names: map[string]string{}}
	switch kind {
	case "lower":
		t.change = strings.ToLower
	case "upper":
		t.change = strings.ToUpper
	case "title":
		t.change = titleCase
	case "snake":
		t.change = snakeCase
	}
	if !p.has("mapping") {
		return renaming{renamer: t}, nil
	}
	entries, err := p.targets("mapping")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if len(e.to) > 1 {
			return nil, errors.New("'mapping' must map a name to one name")
		}
		t.names[e.from] = e.to[0]
	}
	return renaming{renamer: t}, nil
}

func titleCase(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		first, n := utf8.DecodeRuneInString(w)
		words[i] = string(unicode.ToUpper(first)) + strings.ToLower(w[n:])
	}
	return strings.Join(words, "_")
}

func snakeCase(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
