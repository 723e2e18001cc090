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
			r.Logsource = recall(d, key, v, 0, func() ast.Logsource { return d.logsource(v) })
		case "detection":
			d.detection(r, v)
		default:
			return false
		}
		return true
	})
	if d.root.Get("detection") == nil {
		d.missing(d.root, "detection")
	}
}

func (d *draft) detection(r *ast.Rule, v *document.Node) {
	if v.Kind != document.Map {
		d.fail(v.Line, "detection must be a mapping")
		return
	}
	l := recall(d, "detection", v, r.Version, func() detections { return d.readDetection(v, r.Version) })
	r.Detections, r.Conditions, r.Timeframe = l.list, l.conditions, l.timeframe
}

// detections are the parts of a rule that its key detection has.
type detections struct {
	list       []ast.Detection
	conditions []ast.Condition
	timeframe  string
}

func (d *draft) readDetection(v *document.Node, version int) (out detections) {
	b := builder{draft: d, version: version}
	b.checkKeys(v)
	for _, e := range v.Entries {
		if e.Key.Kind != document.String {
			continue
		}
		switch e.Key.Text {
		case "condition":
		case "timeframe":
			if e.Value.IsScalar() {
				out.timeframe = e.Value.Text
			}
		default:
			out.list = append(out.list, b.named(e, place{}))
		}
	}
	out.conditions = b.conditions(v)
	return out
}

// named reads a detection and its name.
func (b *builder) named(e document.Entry, at place) ast.Detection {
	node := recall(b.draft, at.String(), e.Value, b.version, func() *ast.Node { return b.detection(e.Value, at) })
	return ast.Detection{Name: e.Key.Text, Node: node, Line: e.Key.Line}
}

// conditions reads the required key condition of a mapping: a string, or a list
// of strings of which the first that holds wins.
func (b *builder) conditions(block *document.Node) []ast.Condition {
	v := block.Get("condition")
	if v == nil {
		b.missing(block, "condition")
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
