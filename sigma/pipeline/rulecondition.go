package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

func errMissing(key string) error { return fmt.Errorf("missing required key '%s'", key) }
func errScalar(key string) error  { return fmt.Errorf("'%s' must be a scalar", key) }

// ruleCondition asks something of the rule as it is now.
type ruleCondition interface {
	rule(c *run) bool
}

func readRuleCondition(typ string, p *params) (ruleCondition, error) {
	switch typ {
	case "logsource":
		return readLogsourceCondition(p)
	case "contains_detection_item":
		field, err := p.requiredStr("field")
		if err != nil {
			return nil, err
		}
		c := containsItem{field: field}
		if p.has("value") {
			v := p.node.Get("value")
			if !v.IsScalar() {
				return nil, errScalar("value")
			}
			value := valueOf(v)
			c.value = &value
		}
		return c, nil
	case "contains_field":
		field, err := p.requiredStr("field")
		return containsField(field), err
	case "processing_item_applied":
		id, err := p.requiredStr("processing_item_id")
		return ruleApplied(id), err
	case "processing_state":
		c, err := readStateCondition(p)
		return ruleState{c}, err
	case "is_sigma_rule":
		return isCorrelation(false), nil
	case "is_sigma_correlation_rule":
		return isCorrelation(true), nil
	case "rule_attribute":
		return readAttributeCondition(p)
	case "tag":
		tag, err := p.requiredStr("tag")
		return hasTag(tag), err
	}
	return nil, fmt.Errorf("unknown rule condition type: %s", typ)
}

type logsourceCondition struct{ category, product, service *string }

func readLogsourceCondition(p *params) (ruleCondition, error) {
	c := logsourceCondition{}
	for key, dst := range map[string]**string{"category": &c.category, "product": &c.product, "service": &c.service} {
		if v := p.get(key); v != nil {
			s, err := text(v, key)
			if err != nil {
				return nil, err
			}
			*dst = &s
		}
	}
	return c, nil
}

func (c logsourceCondition) rule(r *run) bool { return slices.ContainsFunc(r.logsources(), c.accepts) }

// accepts compares ignoring ASCII case; a key the rule lacks is false.
func (c logsourceCondition) accepts(l ast.Logsource) bool {
	one := func(want *string, have string) bool {
		return want == nil || have != "" && equalFoldASCII(*want, have)
	}
	return one(c.category, l.Category) && one(c.product, l.Product) && one(c.service, l.Service)
}

func equalFoldASCII(a, b string) bool {
	return len(a) == len(b) && strings.EqualFold(a, b)
}

type containsItem struct {
	field string
	value *ast.Value
}

func (c containsItem) rule(r *run) bool {
	return r.anyItem(func(it *ast.Item) bool {
		if !strings.EqualFold(it.Field, c.field) || it.Field == "" {
			return false
		}
		return c.value == nil || slices.ContainsFunc(it.Values, func(v ast.Value) bool {
			return strings.EqualFold(textForm(v), textForm(*c.value)) && (v.Kind == ast.Null) == (c.value.Kind == ast.Null)
		})
	})
}

type containsField string

func (c containsField) rule(r *run) bool {
	return r.anyItem(func(it *ast.Item) bool { return it.Field != "" && it.Field == string(c) })
}

type ruleApplied string

func (c ruleApplied) rule(r *run) bool { return r.applied[string(c)] }

type ruleState struct{ *stateCondition }

func (c ruleState) rule(r *run) bool { return c.holds(r.state) }

type isCorrelation bool

func (c isCorrelation) rule(r *run) bool { return (r.correlation != nil) == bool(c) }

type hasTag string

func (c hasTag) rule(r *run) bool { return slices.Contains(r.meta().Tags, string(c)) }

// attributeCondition is rule_attribute.
type attributeCondition struct {
	attribute string
	value     []string
	op        comparison // empty without op
}

var attributeOps = map[string]string{
	"": "", "eq": "eq", "ne": "ne", "gt": "gt", "gte": "gte", "lt": "lt", "lte": "lte", "in": "in", "not_in": "not_in",
}

func readAttributeCondition(p *params) (ruleCondition, error) {
	c := attributeCondition{}
	var err error
	if c.attribute, err = p.requiredStr("attribute"); err != nil {
		return nil, err
	}
	if c.value, err = p.list("value"); err != nil {
		return nil, err
	}
	op, err := p.oneOf("", attributeOps, "op")
	if err != nil {
		return nil, err
	}
	c.op = comparison(op)
	if len(c.value) == 0 {
		return nil, errMissing("value")
	}
	if len(c.value) > 1 && op != "in" && op != "not_in" {
		return nil, errors.New("'value' must be a scalar")
	}
	return c, c.checkOrder()
}

// checkOrder reports a level or status that has no place in the order asked for.
func (c attributeCondition) checkOrder() error {
	if !c.op.ordering() {
		return nil
	}
	want := strings.ToLower(c.value[0])
	switch c.attribute {
	case "level":
		if _, err := ast.ParseLevel(want); err != nil {
			return fmt.Errorf("'value': unknown level '%s'", c.value[0])
		}
	case "status":
		if !slices.Contains(statusOrder, want) {
			return fmt.Errorf("'value': unknown status '%s'", c.value[0])
		}
	}
	return nil
}

func (c attributeCondition) rule(r *run) bool {
	have, ok := r.attribute(c.attribute)
	if !ok {
		return false
	}
	want := c.value[0]
	switch c.op {
	case "in", "not_in":
		list := have
		found := slices.ContainsFunc(c.value, func(v string) bool { return slices.Contains(list, v) })
		return found == (c.op == "in")
	case "":
		return c.plain(have, want)
	case "eq", "ne":
		return slices.Contains(have, want) == (c.op == "eq")
	}
	return len(have) == 1 && c.op.holds(compareAttribute(c.attribute, have[0], want))
}

func (c attributeCondition) plain(have []string, want string) bool {
	return slices.ContainsFunc(have, func(h string) bool {
		switch c.attribute {
		case "level", "status", "author", "title":
			return strings.EqualFold(h, want)
		case "description":
			return strings.Contains(h, want)
		}
		return h == want
	})
}

var statusOrder = []string{"unsupported", "deprecated", "experimental", "test", "stable"}

func compareAttribute(attribute, have, want string) int {
	switch attribute {
	case "level":
		a, errA := ast.ParseLevel(have)
		b, errB := ast.ParseLevel(strings.ToLower(want))
		if errA == nil && errB == nil {
			return int(a) - int(b)
		}
	case "status":
		a, b := slices.Index(statusOrder, have), slices.Index(statusOrder, strings.ToLower(want))
		if a >= 0 && b >= 0 {
			return a - b
		}
	}
	a, aok := parseNumber(have)
	b, bok := parseNumber(want)
	switch {
	case !aok || !bok:
		return strings.Compare(have, want)
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
