package load

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/ast"
)

// selectors is a field name, read for array selectors. With a quantifier, path
// names the array and rest the field inside a member.
type selectors struct {
	quantifier ast.Quantifier
	path, rest string
	indexed    bool // some segment has a position
	position   bool // the last segment has one
}

// splitSelectors finds the first quantified segment and checks all of them.
func splitSelectors(field string) (selectors, error) {
	var s selectors
	if strings.IndexByte(field, ']') < 0 {
		return s, nil // the fast path
	}
	for start := 0; start <= len(field); {
		end := start + strings.IndexByte(field[start:]+".", '.')
		name, token, err := segmentSelector(field[start:end])
		if err != nil {
			return s, fmt.Errorf("%w in '%s'", err, field)
		}
		quantifier := quantifierOf(token)
		_, numErr := strconv.Atoi(token)
		switch {
		case token == "":
			s.position = false
		case quantifier != ast.NoQuantifier:
			if s.quantifier == ast.NoQuantifier {
				s.quantifier = quantifier
				s.path = field[:start] + name
				s.rest = strings.TrimPrefix(field[end:], ".")
				if end+1 == len(field) {
					return s, fmt.Errorf("field name ends in a dot in '%s'", field)
				}
			}
			s.position = false
		case numErr == nil && token[0] != '+':
			s.indexed, s.position = true, true
		default:
			return s, fmt.Errorf("unknown array selector '[%s]' in '%s'%s", token, field, suggest.Behind(token, []string{"any", "all", "all_or_empty", "none"}))
		}
		start = end + 1
	}
	return s, nil
}

func quantifierOf(token string) ast.Quantifier {
	switch token {
	case "any":
		return ast.AnyMember
	case "all":
		return ast.AllMembers
	case "all_or_empty":
		return ast.AllOrEmpty
	case "none":
		return ast.NoMember
	}
	return ast.NoQuantifier
}

// segmentSelector splits "name[token]". A segment that does not end in an
// unescaped bracket has no selector.
func segmentSelector(seg string) (name, token string, err error) {
	last := len(seg) - 1
	if last < 0 || seg[last] != ']' || escaped(seg, last) {
		return seg, "", nil
	}
	open := -1
	for i := range last {
		if escaped(seg, i) {
			continue
		}
		switch {
		case seg[i] == '[' && open < 0:
			open = i
		case seg[i] == '[' || seg[i] == ']':
			return "", "", fmt.Errorf("array selectors cannot be chained: '%s'", seg)
		}
	}
	switch {
	case open < 0:
		return "", "", fmt.Errorf("closing bracket without an opening one: '%s'", seg)
	case open == 0:
		return "", "", fmt.Errorf("array selector without a field name: '%s'", seg)
	case open+1 == last:
		return "", "", fmt.Errorf("unknown array selector '[]'")
	}
	return seg[:open], seg[open+1 : last], nil
}

func escaped(s string, i int) bool { return i > 0 && s[i-1] == '\\' }

// array reads an array block; nil when it is faulty.
func (b *builder) array(r row, sel selectors) *ast.Node {
	block := &ast.Node{Kind: ast.KindArray, Path: sel.path, Quantifier: sel.quantifier, Line: r.number}
	inner, err := splitSelectors(sel.rest)
	if err != nil {
		b.fail(r.number, "%v", err)
		return nil
	}
	var body *ast.Node
	switch {
	case inner.quantifier != ast.NoQuantifier:
		r.field = sel.rest
		body = b.array(r, inner)
	case r.value.Kind == document.Map:
		if r.modifiers != 0 {
			b.fail(r.number, "modifiers on the array block '%s', whose value is a mapping", r.field)
			return nil
		}
		at := place{member: true}
		if sel.rest != "" {
			at.prefix = sel.rest + "."
		}
		body = b.body(r.value, at)
	default:
		r.field = place{member: true, prefix: sel.rest}.self()
		body = &ast.Node{Kind: ast.KindItems, Items: []ast.Item{b.item(r)}, Line: r.number}
	}
	if body == nil {
		return nil
	}
	block.Nodes = []*ast.Node{body}
	return block
}

// body reads the mapping of an array block. The key condition makes it an
// extended one, whose other keys are named detections.
func (b *builder) body(v *document.Node, at place) *ast.Node {
	if v.Get("condition") == nil {
		return b.mapping(v, at)
	}
	node := &ast.Node{Kind: ast.KindNested, Line: v.Line}
	for _, e := range v.Entries {
		if e.Key.Kind == document.String && e.Key.Text != "condition" {
			node.Detections = append(node.Detections, b.named(e, at))
		}
	}
	if len(node.Detections) == 0 {
		b.fail(v.Line, "array block with a condition but without a named detection")
	}
	node.Conditions = b.conditions(v)
	return node
}
