package pipeline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
)

// scalar is a value of the pipeline state or of a condition.
type scalar struct {
	kind document.Kind
	text string
}

func readScalar(n *document.Node) scalar {
	if n == nil {
		return scalar{}
	}
	return scalar{kind: n.Kind, text: n.Text}
}

func (s scalar) number() (float64, bool) {
	if s.kind != document.Int && s.kind != document.Float {
		return 0, false
	}
	f, err := strconv.ParseFloat(s.text, 64)
	return f, err == nil
}

// comparison is an operator of processing_state and rule_attribute.
type comparison string

var orderings = []comparison{"gt", "gte", "lt", "lte"}

func (op comparison) ordering() bool { return slices.Contains(orderings, op) }

// holds applies the operator to the outcome of a three-way comparison.
func (op comparison) holds(order int) bool {
	switch op {
	case "eq":
		return order == 0
	case "ne":
		return order != 0
	case "gt":
		return order > 0
	case "gte":
		return order >= 0
	case "lt":
		return order < 0
	case "lte":
		return order <= 0
	}
	return false
}

// compareState compares two scalars: numbers as numbers, strings as text,
// anything else for equality only.
func compareState(op comparison, have, want scalar) bool {
	a, aok := have.number()
	b, bok := want.number()
	switch {
	case aok && bok:
		switch {
		case a < b:
			return op.holds(-1)
		case a > b:
			return op.holds(1)
		}
		return op.holds(0)
	case have.kind == document.String && want.kind == document.String:
		return op.holds(strings.Compare(have.text, want.text))
	case op.ordering():
		return false
	}
	equal := have == want
	return (op == "eq") == equal
}

// stateCondition is processing_state, which all three groups have.
type stateCondition struct {
	key string
	val scalar
	op  comparison
}

var stateOps = map[string]string{"eq": "eq", "ne": "ne", "gt": "gt", "gte": "gte", "lt": "lt", "lte": "lte"}

func readStateCondition(p *params) (*stateCondition, error) {
	c := &stateCondition{}
	var err error
	if c.key, err = p.requiredStr("key"); err != nil {
		return nil, err
	}
	op, err := p.oneOf("eq", stateOps, "op")
	if err != nil {
		return nil, err
	}
	c.op = comparison(op)
	if !p.has("val") && !p.has("value") {
		return nil, errMissing("val")
	}
	v := p.get("val", "value")
	if v != nil && !v.IsScalar() {
		return nil, errScalar("val")
	}
	c.val = readScalar(v)
	return c, nil
}

func (c *stateCondition) holds(state map[string]scalar) bool {
	have, ok := state[c.key]
	return ok && compareState(c.op, have, c.val)
}
