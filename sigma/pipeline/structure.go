package pipeline

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/load"
)

// dropItem removes items; keyword blocks are never dropped.
type dropItem struct{}

func (dropItem) apply(c *call) error {
	return rewriteRule(c.rule, func(_ *ast.Node, it ast.Item) (replacement, error) {
		if it.Field == "" || !c.touches(&it) {
			return kept, nil
		}
		return replacement{}, nil
	})
}

// addCondition adds a detection and asks for it in every condition.
type addCondition struct {
	items            []ast.Item
	negated, prepend bool
	name             string
	template         bool
}

func readAddCondition(p *params) (transformation, error) {
	t := addCondition{}
	var err error
	if conditions := p.get("conditions"); conditions != nil {
		if conditions.Kind != document.Map {
			return nil, errors.New("'conditions' must be a mapping")
		}
		for _, e := range conditions.Entries {
			it, err := conditionItem(e)
			if err != nil {
				return nil, err
			}
			t.items = append(t.items, it)
		}
	}
	if refs := p.get("field_refs"); refs != nil {
		if refs.Kind != document.Map {
			return nil, errors.New("'field_refs' must be a mapping")
		}
		for _, e := range refs.Entries {
			to, err := text(e.Value, "field_refs."+e.Key.Text)
			if err != nil {
				return nil, err
			}
			t.items = append(t.items, ast.Item{
				Field: e.Key.Text, Modifiers: ast.Modifiers(ast.FieldRef), Values: []ast.Value{ast.StringValue(to)},
			})
		}
	}
	if len(t.items) == 0 {
		return nil, errors.New("add_condition: no conditions")
	}
	if t.negated, err = p.boolean("negated"); err != nil {
		return nil, err
	}
	if t.prepend, err = p.boolean("prepend"); err != nil {
		return nil, err
	}
	if t.template, err = p.boolean("template"); err != nil {
		return nil, err
	}
	t.name, err = p.str("", "name")
	return t, err
}

// conditionItem reads a field spec with modifiers, as in a rule.
func conditionItem(e document.Entry) (ast.Item, error) {
	spec := strings.Split(e.Key.Text, "|")
	it := ast.Item{Field: spec[0]}
	for _, name := range spec[1:] {
		m, ok := ast.ParseModifier(name)
		if !ok {
			return it, fmt.Errorf("add_condition: Unknown modifier '%s'%s", name, suggest.Behind(name, ast.ModifierNames()))
		}
		it.Modifiers = it.Modifiers.With(m)
	}
	if it.Field == "" {
		return it, fmt.Errorf("add_condition: '%s' names no field", e.Key.Text)
	}
	values := []*document.Node{e.Value}
	if e.Value.Kind == document.List {
		if values = e.Value.Items; len(values) == 0 {
			return it, fmt.Errorf("add_condition: empty sequence for field '%s'", e.Key.Text)
		}
	}
	for _, v := range values {
		if !v.IsScalar() {
			return it, fmt.Errorf("add_condition: non-scalar value for field '%s'", e.Key.Text)
		}
		if _, err := syntax.Parse(v.Text, syntax.Perl); err != nil && it.Modifiers.Has(ast.Re) {
			return it, fmt.Errorf("add_condition: invalid regex '%s' for field '%s': %w", v.Text, e.Key.Text, err)
		}
		it.Values = append(it.Values, valueOf(v))
	}
	return it, nil
}

func (t addCondition) apply(c *call) error {
	r := c.rule
	name := t.name
	if name == "" {
		name = fmt.Sprintf("__pipeline_cond_%d", len(r.Detections))
	}
	if slices.ContainsFunc(r.Detections, func(d ast.Detection) bool { return d.Name == name }) {
		return fmt.Errorf("add_condition: detection '%s' exists", name)
	}
	items := slices.Clone(t.items)
	for i := range items {
		items[i].Values = slices.Clone(items[i].Values)
		if t.template {
			fillTemplate(items[i].Values, r.Logsource)
		}
		c.mark(&items[i])
	}
	r.Detections = append(r.Detections, ast.Detection{Name: name, Node: &ast.Node{Kind: ast.KindItems, Items: items}})
	for i := range r.Conditions {
		r.Conditions[i] = t.joined(r.Conditions[i], name)
	}
	return nil
}

// joined is "C and X" or "X and C", X being the new detection or its negation.
func (t addCondition) joined(c ast.Condition, name string) ast.Condition {
	extra := &condition.Expr{Op: condition.Ident, Name: name}
	words := name
	if t.negated {
		extra = &condition.Expr{Op: condition.Not, Args: []*condition.Expr{extra}}
		words = "not " + name
	}
	old := "(" + c.Text + ")"
	if c.Expr.Op == condition.Ident {
		old = c.Text
	}
	if t.prepend {
		c.Text, c.Expr = words+" and "+old, &condition.Expr{Op: condition.And, Args: []*condition.Expr{extra, c.Expr}}
		return c
	}
	c.Text, c.Expr = old+" and "+words, &condition.Expr{Op: condition.And, Args: []*condition.Expr{c.Expr, extra}}
	return c
}

// fillTemplate replaces $category, $product and $service, with or without
// braces; a part the rule lacks leaves the text as it is.
func fillTemplate(values []ast.Value, l ast.Logsource) {
	var pairs []string
	for name, v := range map[string]string{"category": l.Category, "product": l.Product, "service": l.Service} {
		if v != "" {
			pairs = append(pairs, "${"+name+"}", v, "$"+name, v)
		}
	}
	fill := strings.NewReplacer(pairs...)
	for i, v := range values {
		if v.Kind == ast.String {
			values[i] = ast.StringValue(fill.Replace(v.Text))
		}
	}
}

type changeLogsource struct{ category, product, service *string }

func readChangeLogsource(p *params) (transformation, error) {
	c, err := readLogsourceCondition(p)
	if err != nil {
		return nil, err
	}
	return changeLogsource(c.(logsourceCondition)), nil
}

func (t changeLogsource) apply(c *call) error {
	l := &c.rule.Logsource
	for _, part := range []struct {
		to  *string
		dst *string
	}{{t.category, &l.Category}, {t.product, &l.Product}, {t.service, &l.Service}} {
		if part.to != nil {
			*part.dst = *part.to
		}
	}
	return nil
}

// outputFields changes the rule's fields list.
type outputFields struct {
	mode   string // add_field, remove_field, set_field
	fields []string
}

func readOutputFields(typ string, p *params) (transformation, error) {
	key := "field"
	if typ == "set_field" {
		key = "fields"
	}
	fields, err := p.list(key)
	if err == nil && fields == nil {
		err = errMissing(key)
	}
	return outputFields{typ, fields}, err
}

func (t outputFields) apply(c *call) error {
	r := c.rule
	switch t.mode {
	case "set_field":
		r.Fields = slices.Clone(t.fields)
	case "remove_field":
		r.Fields = slices.DeleteFunc(slices.Clone(r.Fields), func(f string) bool { return slices.Contains(t.fields, f) })
	default:
		for _, f := range t.fields {
			if !slices.Contains(r.Fields, f) {
				r.Fields = append(r.Fields, f)
			}
		}
	}
	return nil
}

type setAttribute struct {
	name  string
	value any
}

func readSetAttribute(p *params) (transformation, error) {
	name, err := p.requiredStr("attribute")
	if err != nil {
		return nil, err
	}
	if !p.has("value") {
		return nil, errMissing("value")
	}
	return setAttribute{name, p.node.Get("value").JSON()}, nil
}

func (t setAttribute) apply(c *call) error {
	m := c.meta()
	if m.Attributes == nil {
		m.Attributes = map[string]any{}
	}
	m.Attributes[t.name] = t.value
	return nil
}

type setState struct {
	key   string
	value scalar
}

func readSetState(p *params) (transformation, error) {
	key, err := p.requiredStr("key")
	if err != nil {
		return nil, err
	}
	if !p.has("val") && !p.has("value") {
		return nil, errMissing("val")
	}
	v := p.get("val", "value")
	if v != nil && !v.IsScalar() {
		return nil, errScalar("val")
	}
	return setState{key, readScalar(v)}, nil
}

func (t setState) apply(c *call) error {
	c.state[t.key] = t.value
	return nil
}

func readQueryExpression(p *params) (transformation, error) {
	expression, err := p.str("", "expression")
	return setState{"query_expression_template", scalar{document.String, expression}}, err
}

// nest runs items in place, each under the outer groups and its own.
type nest struct{ items []*item }

func readNest(p *params) (transformation, error) {
	n := p.get("items", "transformations")
	if n == nil {
		return nil, errMissing("items")
	}
	if n.Kind != document.List {
		return nil, errors.New("'items' must be a list")
	}
	items, err := p.reader.items(n.Items, "items", true)
	return nest{items}, err
}

func (t nest) apply(c *call) error {
	c.outer = append(c.outer, c.item)
	err := c.items(t.items)
	c.outer = c.outer[:len(c.outer)-1]
	return err
}

// ruleFailure rejects a rule, or leaves it out.
type ruleFailure struct {
	message string
	skip    bool
}

func readRuleFailure(p *params) (transformation, error) {
	message, err := p.str("rule failure", "message")
	if err != nil {
		return nil, err
	}
	action, err := p.oneOf("fail", map[string]string{"fail": "fail", "skip": "skip"}, "action")
	return ruleFailure{message, action == "skip"}, err
}

func (t ruleFailure) apply(c *call) error {
	what := "rule"
	if c.correlation != nil {
		what = "correlation"
	}
	text := fmt.Sprintf("Pipeline rule failure: %s (%s: %s)", t.message, what, c.meta().Title)
	if t.skip {
		return &skipError{text}
	}
	return errors.New(text)
}

// skipError carries the text of the warning.
type skipError struct{ text string }

func (e *skipError) Error() string { return e.text }
func (e *skipError) Unwrap() error { return load.ErrSkip }

type itemFailure struct{ message string }

func readItemFailure(p *params) (transformation, error) {
	message, err := p.str("detection item failure", "message")
	return itemFailure{message}, err
}

func (t itemFailure) apply(c *call) error {
	if !c.anyItem(c.touches) {
		return errNotApplied
	}
	return fmt.Errorf("Pipeline detection item failure: %s (rule: %s)", t.message, c.rule.Title)
}
