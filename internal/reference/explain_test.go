package reference

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Detail is how much matched_fields tells.
type Detail uint8

// The levels of match detail.
const (
	Off Detail = iota
	Summary
	Full
)

// entry is one element of matched_fields.
type entry struct {
	field     string
	value     *value
	selection string
	matcher   string
	pattern   *string // nil: not printed
	cased     bool
	showCase  bool
	negated   bool
}

var nothing = &value{kind: null, raw: "null"}

const (
	maxEntries = 16
	maxPattern = 256
)

// explain appends the entries of a node that holds.
func (n *node) explain(s scope, selection string, d Detail, out []entry) []entry {
	switch n.kind {
	case ast.KindItems:
		for _, it := range n.items {
			out = it.explain(s, selection, d, out)
		}
	case ast.KindAny, ast.KindAll:
		for _, m := range n.nodes {
			if m.holds(s) {
				out = m.explain(s, selection, d, out)
			}
		}
	case ast.KindKeywords:
		out = n.items[0].explainKeywords(s, selection, d, out)
	case ast.KindNested:
		for _, d2 := range n.nested.winner(s).support(s, nil) {
			out = d2.node.explain(s, selection, d, out)
		}
	case ast.KindArray:
		out = n.explainArray(s, selection, d, out)
	}
	return out
}

// explainArray tells which members hold; a quantifier that holds for want of
// members tells the array as a whole.
func (n *node) explainArray(s scope, selection string, d Detail, out []entry) []entry {
	members := n.satisfying(n.members(s))
	if n.quantifier == ast.NoMember || len(members) == 0 {
		if v := joinedHits(s.hits(n.array)); v != nil {
			e := entry{field: join(s.at, n.array.name), value: v, selection: selection, matcher: "exists"}
			if n.array.name == "." {
				e.field = s.at
			}
			out = append(out, e)
		}
		return out
	}
	for _, m := range members[:min(len(members), maxEntries)] {
		out = n.nodes[0].explain(m, selection, d, out)
	}
	return out
}

func joinedHits(hits []hit) *value {
	values := make([]*value, len(hits))
	for i, h := range hits {
		values[i] = h.value
	}
	return joined(values)
}

func (it *item) explain(s scope, selection string, d Detail, out []entry) []entry {
	v, name := s.find(it.field)
	if v == nil {
		// Only a null test that held is told of an absent field.
		if d == Off || it.exists {
			return out
		}
		v = nothing
	}
	e := it.entry(selection)
	e.field, e.value = name, v
	return append(out, e)
}

func (it *item) explainKeywords(s scope, selection string, d Detail, out []entry) []entry {
	if d == Off || it.neq {
		return out
	}
	told := 0
	for _, w := range s.words() {
		if told == maxEntries {
			break
		}
		if it.anyHolds(s.ev, w) {
			e := it.entry(selection)
			e.field, e.value, e.matcher = "keyword", w, "keyword"
			out = append(out, e)
			told++
		}
	}
	return out
}

// entry describes the comparison.
func (it *item) entry(selection string) entry {
	e := entry{selection: selection, cased: it.cased, negated: it.neq}
	if it.exists {
		wanted := strconv.FormatBool(it.wanted)
		e.matcher, e.pattern = "exists", &wanted
		return e
	}
	e.matcher, e.showCase = "one_of", len(it.alternatives) > 0
	var patterns []string
	for _, a := range it.alternatives {
		e.showCase = e.showCase && a.textual
		p := a.pattern
		if a.matcher == "null" {
			p = "null"
		}
		patterns = append(patterns, p)
	}
	spelled := it.several // what is no text has no other spellings
	switch e := it.alternatives; {
	case len(e) != 1:
	case e[0].matcher == "bool", e[0].matcher == "null", e[0].matcher == "expand", e[0].matcher == "numeric":
		spelled = false
	}
	if len(it.alternatives) == 1 && !spelled {
		e.matcher = it.alternatives[0].matcher
	}
	if pattern := cut(strings.Join(patterns, ", ")); e.matcher != "null" {
		e.pattern = &pattern
	}
	return e
}

// cut shortens a long pattern at a character.
func cut(s string) string {
	if len(s) <= maxPattern {
		return s
	}
	n := maxPattern - len("...")
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}
