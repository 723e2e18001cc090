package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
)

// group is a list of conditions and how they combine. Without conditions it is
// satisfied, whatever its negation says.
type group[C any] struct {
	names []string
	conds []C
	or    bool
	expr  *boolExpr
	not   bool
}

func (g *group[C]) empty() bool { return len(g.conds) == 0 }

// holds combines the answers of ask.
func (g *group[C]) holds(ask func(C) bool) bool {
	if g.empty() {
		return true
	}
	var answer bool
	switch {
	case g.expr != nil:
		answer = g.expr.eval(func(i int) bool { return ask(g.conds[i]) })
	case g.or:
		answer = slices.ContainsFunc(g.conds, ask)
	default:
		answer = !slices.ContainsFunc(g.conds, func(c C) bool { return !ask(c) })
	}
	return answer != g.not
}

// readGroup reads the four keys of a group of the item at where. prefix is that of its keys, what
// names a condition in messages.
func readGroup[C any](r *reader, n *document.Node, where, prefix, what string, read func(typ string, p *params) (C, error)) (group[C], error) {
	g := group[C]{}
	p := &params{reader: r, node: n}
	var err error
	if g.not, err = p.boolean(prefix + "_cond_not"); err != nil {
		return g, err
	}
	op, err := p.str("", prefix+"_cond_op")
	if err != nil {
		return g, err
	}
	if op != "" && op != "and" && op != "or" {
		return g, fmt.Errorf("'%s_cond_op' must be 'and' or 'or', not '%s'", prefix, op)
	}
	g.or = op == "or"
	key := prefix + "_conditions"
	list := n.Get(key)
	if list != nil {
		switch list.Kind {
		case document.Null:
		case document.List:
			for i, c := range list.Items {
				name := fmt.Sprintf("cond_%d", i)
				if id := c.Get("id"); id != nil && id.Kind != document.Null {
					if name, err = text(id, "id"); err != nil {
						return g, err
					}
				}
				if err := g.add(r, where, name, c, what, read); err != nil {
					return g, err
				}
			}
		case document.Map:
			for _, e := range list.Entries {
				if err := g.add(r, where, e.Key.Text, e.Value, what, read); err != nil {
					return g, err
				}
			}
		default:
			return g, fmt.Errorf("%s must be a sequence or a mapping", key)
		}
	}
	expr, err := p.str("", prefix+"_cond_expr", prefix+"_cond_expression")
	if err != nil {
		return g, err
	}
	if op != "" && n.Get(prefix+"_cond_expr") != nil || op != "" && n.Get(prefix+"_cond_expression") != nil {
		return g, fmt.Errorf("'%s_cond_op' and '%s_cond_expr' exclude each other", prefix, prefix)
	}
	switch {
	case p.get(prefix+"_cond_expr", prefix+"_cond_expression") == nil:
		return g, nil
	case strings.TrimSpace(expr) == "":
		g.expr = &boolExpr{op: '&'}
	default:
		g.expr, err = parseBool(expr, g.names)
	}
	if err != nil {
		return g, fmt.Errorf("%s_cond_expr: %w", prefix, err)
	}
	for i, name := range g.names {
		if !g.expr.mentions(i) {
			r.pipeline.warn("%s: %s_cond_expr does not mention condition '%s'", where, prefix, name)
		}
	}
	return g, nil
}

func (g *group[C]) add(r *reader, where, name string, n *document.Node, what string, read func(string, *params) (C, error)) error {
	if n.Kind != document.Map {
		return fmt.Errorf("%s must be a mapping", what)
	}
	typ, ok := n.Get("type").Str()
	if !ok {
		return fmt.Errorf("%s must have a 'type' field", what)
	}
	if slices.Contains(g.names, name) {
		return fmt.Errorf("%s '%s' is named twice", what, name)
	}
	p := &params{reader: r, node: n, where: fmt.Sprintf("%s: %s '%s'", where, what, name), known: []string{"type", "id"}}
	c, err := read(typ, p)
	if err != nil {
		return err
	}
	p.warnUnknown()
	g.names = append(g.names, name)
	g.conds = append(g.conds, c)
	return nil
}
