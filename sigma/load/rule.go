package load

import (
	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
)

// parseRule reads a detection rule. Whatever its problems, the rest of it is
// read, so that one load reports all of them.
func (d *draft) parseRule() {
	r := &ast.Rule{Version: d.version()}
	d.Rule = r
	d.meta(&r.Meta, func(key string, v *document.Node) bool {
		switch key {
		case "sigma-version":
		case "logsource":
			r.Logsource = d.logsource(v)
		case "detection":
			d.detection(r, v)
		default:
			return false
		}
		return true
	})
	if d.root.Get("detection") == nil {
		d.missing(d.root.Line, "detection")
	}
}

func (d *draft) detection(r *ast.Rule, v *document.Node) {
	if v.Kind != document.Map {
		d.fail(v.Line, "detection must be a mapping")
		return
	}
	b := builder{draft: d, version: r.Version}
	b.checkKeys(v)
	for _, e := range v.Entries {
		if e.Key.Kind != document.String {
			continue
		}
		switch e.Key.Text {
		case "condition":
		case "timeframe":
			if e.Value.IsScalar() {
				r.Timeframe = e.Value.Text
			}
		default:
			r.Detections = append(r.Detections, b.named(e, place{}))
		}
	}
	r.Conditions = b.conditions(v)
}

// named reads a detection and its name.
func (b *builder) named(e document.Entry, at place) ast.Detection {
	return ast.Detection{Name: e.Key.Text, Node: b.detection(e.Value, at), Line: e.Key.Line}
}

// conditions reads the required key condition of a mapping: a string, or a list
// of strings of which the first that holds wins.
func (b *builder) conditions(block *document.Node) []ast.Condition {
	v := block.Get("condition")
	if v == nil {
		b.missing(block.Line, "condition")
		return nil
	}
	list := []*document.Node{v}
	if v.Kind == document.List {
		list = v.Items
	}
	if len(list) == 0 {
		b.fail(v.Line, "invalid condition: the list is empty")
	}
	var out []ast.Condition
	for _, n := range list {
		text, ok := n.Str()
		if !ok {
			b.fail(n.Line, "invalid condition: neither a string nor a list of strings")
			continue
		}
		expr, err := condition.Parse(text)
		if err != nil {
			b.fail(n.Line, "%v", err)
			continue
		}
		out = append(out, ast.Condition{Text: text, Expr: expr, Line: n.Line})
	}
	return out
}

// checkKeys reports every key below n that is not a string.
func (b *builder) checkKeys(n *document.Node) {
	for _, it := range n.Items {
		b.checkKeys(it)
	}
	for _, e := range n.Entries {
		if e.Key.Kind != document.String {
			b.fail(e.Key.Line, "key %s is not a string", e.Key.Text)
		}
		b.checkKeys(e.Value)
	}
}
