package load

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
)

func TestShapes(t *testing.T) {
	for _, tc := range []struct{ name, sel, want string }{
		{"a mapping is a list of items", "{a: b, c|contains: [d, 5]}", `items[a:b c|contains:d,5]`},
		{"a list of scalars is a keyword group", "[a, 5, true]", `keywords[:a,5,true]`},
		{"a scalar is a keyword group of one", "x", `keywords[:x]`},
		{"a list of mappings is any of them", "[{a: b}, {c: d}]", `any(items[a:b] items[c:d])`},
		{"a scalar in a mixed list", "[{a: b}, x]", `any(items[a:b] keywords[:x])`},
		{"a list in a list", "[[x, y], [{a: b}]]", `any(keywords[:x,y] any(items[a:b]))`},
		{"a field-less item", "{'|all': [x, y]}", `keywords[|all:x,y]`},
		{"a field-less item among others", "{a: b, '.': x, c: d}", `all(items[a:b] keywords[:x] items[c:d])`},
		{"a short block", "{'c[any]': {p: x, '.': y}}", `array c any(items[p:x .:y])`},
		{"a block over values", "{'c[all]|gt': 5}", `array c all(items[.|gt:5])`},
		{"a member's field", "{'c[none].p.q|re': x}", `array c none(items[p.q|re:x])`},
		{"a prefix", "{'c[any].p': {q: x, '.': y}}", `array c any(items[p.q:x p:y])`},
		{"a nested block", "{'c[any].d[all_or_empty].e': x}", `array c any(array d all_or_empty(items[e:x]))`},
		{"a mapping under a nested block", "{'c[any].d[all]': {e: x}}", `array c any(array d all(items[e:x]))`},
		{"items come before blocks", "{'c[any]': {p: x}, a: b, 'd[any]': {q: 'y'}}", `all(items[a:b] array c any(items[p:x]) array d any(items[q:y]))`},
		{"a position is part of a name", "{'c[0].d': x, 'e[-1]': z}", `items[c[0].d:x e[-1]:z]`},
		{"a mapping under a position", "{'c[0]': {p: x, 'q|re': z}}", `items[c[0].p:x c[0].q|re:z]`},
		{"a block under a position", "{'c[0]': {'q[any]': x}}", `array c[0].q any(items[.:x])`},
		{"an extended block", "{'c[any]': {condition: i and not t, i: {p: x}, t: [a, b]}}", `array c any(nested(i=items[p:x] t=items[.|contains:a,b] if i and not t))`},
		{"texts in a body", "{'c[any].p': {condition: t, t: a}}", `array c any(nested(t=items[p|contains:a] if t))`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := FromBytes("f.yml", []byte("sigma-version: 3\n"+item(tc.sel)), Options{})
			wantReasons(t, c)
			if len(c.Rules) == 1 {
				if got := show(c.Rules[0].Detections[0].Node); got != tc.want {
					t.Errorf("got  %s\nwant %s", got, tc.want)
				}
			}
		})
	}
}

// show writes a node on one line.
func show(n *ast.Node) string {
	var parts []string
	for _, it := range n.Items {
		var values []string
		for _, v := range it.Values {
			values = append(values, v.Text)
		}
		s := it.Field
		if it.Modifiers != 0 {
			s += "|" + it.Modifiers.String()
		}
		parts = append(parts, s+":"+strings.Join(values, ","))
	}
	if n.Kind == ast.KindItems || n.Kind == ast.KindKeywords {
		return n.Kind.String() + "[" + strings.Join(parts, " ") + "]"
	}
	for _, below := range n.Nodes {
		parts = append(parts, show(below))
	}
	for _, d := range n.Detections {
		parts = append(parts, d.Name+"="+show(d.Node))
	}
	for _, c := range n.Conditions {
		parts = append(parts, "if "+c.Expr.Text())
	}
	head := n.Kind.String()
	if n.Kind == ast.KindArray {
		head += " " + n.Path + " " + n.Quantifier.String()
	}
	return head + "(" + strings.Join(parts, " ") + ")"
}
