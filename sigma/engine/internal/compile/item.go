package compile

import (
	"net/netip"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/result"
)

// item compiles one item.
func (b *builder) item(src *ast.Item, c context) Item {
	mods := src.Modifiers
	it := Item{All: mods.Has(ast.All), Neq: mods.Has(ast.Neq)}
	b.locate(&it, src, c)
	if mods.Has(ast.Exists) {
		b.exists(&it, src)
	} else {
		values := b.among(&it, src, c)
		if len(values) > 1 {
			it.Alts = append(make([]uint32, 0, len(values)+1), it.Alts...)
		}
		for _, v := range values {
			b.alternative(&it, src, v, c)
		}
	}
	if len(it.Usable) < len(src.Values) {
		it.Usable = nil // what is no reference can always be compared with
	}
	it.NullTest = it.HasNull && len(src.Values) == 1
	if b.detail != result.Off {
		it.Match = b.describe(&it, src, c)
	}
	if !c.inBlock {
		it.Expr = b.itemExpr(&it)
	}
	return it
}

// locate sets where the item's values come from.
func (b *builder) locate(it *Item, src *ast.Item, c context) {
	switch {
	case c.inBlock && (src.Field == "." || src.Field == ""):
		it.Name = "."
	case c.inBlock:
		p := event.ParsePath(src.Field, c.version)
		it.Path, it.Name = &p, p.Name
	case src.Field == "" || src.Field == ".":
		it.Keyword, it.Field, it.Name = true, Keywords, "keyword"
		b.fields.searchAll()
	case len(src.Paths) > 0:
		it.Field = b.fields.AddPaths(src.Paths)
		it.Name = b.fields.List[it.Field].Name
	default:
		it.Field = b.fields.Add(src.Field, c.version)
		it.Name = b.fields.List[it.Field].Name
	}
}

func (b *builder) exists(it *Item, src *ast.Item) {
	it.Exists = 1
	if len(src.Values) == 0 {
		it.Exists = 0
		return
	}
	if v := src.Values[0]; v.Kind == ast.Bool || v.Kind == ast.String {
		if v.Text == "false" || v.Text == "no" {
			it.Exists = -1
		}
	}
}

// itemExpr says what the item means in terms of its predicates.
func (b *builder) itemExpr(it *Item) *Expr {
	if it.Exists != 0 {
		x := and(b.present(it.Field), not(b.atom(b.pred(Pred{Kind: IsNull, Field: it.Field}))))
		if it.Exists < 0 {
			return not(x)
		}
		return x
	}
	alts := make([]*Expr, 0, len(it.Alts)+1)
	for _, id := range it.Alts {
		alts = append(alts, b.atom(id))
	}
	switch {
	case it.Neq:
		usable := always
		if it.Usable != nil {
			list := make([]*Expr, 0, len(it.Usable))
			for _, id := range it.Usable {
				list = append(list, b.atom(id))
			}
			usable = or(list...)
		}
		return and(b.present(it.Field), usable, not(or(alts...)))
	case it.All:
		if len(alts) == 0 {
			return never
		}
		return and(alts...)
	case it.HasNull && !it.Keyword:
		alts = append(alts, not(b.present(it.Field)))
	}
	return or(alts...)
}

func (b *builder) present(field uint32) *Expr {
	return b.atom(b.pred(Pred{Kind: Present, Field: field}))
}

// alternative adds the predicates of one value. Several predicates of one value
// are alternatives, also under all: they are joined first.
func (b *builder) alternative(it *Item, src *ast.Item, v ast.Value, c context) {
	mods := src.Modifiers
	switch {
	case v.Kind == ast.Invalid:
		it.addNever(b)
	case v.Kind == ast.Null:
		if it.Keyword {
			it.addNever(b)
			return
		}
		it.HasNull = true
		it.add(b.pred(Pred{Kind: IsNull, Field: it.Field}))
	case mods.Has(ast.Re):
		b.regex(it, mods, v.Text)
	case mods.Has(ast.CIDR):
		if net, err := netip.ParsePrefix(v.Text); err == nil {
			net = net.Masked()
			it.add(b.pred(Pred{Kind: CIDR, Field: it.Field, Text: net.String(), More: &Operand{Net: net}}))
		} else {
			it.addNever(b)
		}
	case mods.HasAny(ast.OrderOperators):
		b.number(it, orderKind(mods), v.Text, 0)
	case mods.HasAny(ast.TimeParts):
		part := (mods & ast.TimeParts).List()[0]
		b.number(it, TimePart, v.Text, part)
	case mods.Has(ast.FieldRef):
		b.fieldRef(it, src, v, c)
	case mods.Has(ast.Expand) && b.expand(it, src, v, c):
	case v.Kind == ast.Number && !it.Keyword && !textual(mods):
		b.number(it, Equal, v.Text, 0)
	case v.Kind == ast.Bool && !it.Keyword && testsTruth(mods):
		kind := IsFalse
		if v.Text == "true" {
			kind = IsTrue
		}
		it.add(b.pred(Pred{Kind: kind, Field: it.Field}))
	default:
		b.text(it, src, v)
	}
}

func (it *Item) add(id uint32) { it.Alts = append(it.Alts, id) }

// addNever adds an alternative that nothing satisfies.
func (it *Item) addNever(b *builder) {
	b.expression(it, nothing)
}

// textual says that a number is compared by its text.
func textual(m ast.Modifiers) bool {
	return m.HasAny(ast.StringOperators|ast.Encodings) || m.Has(ast.Cased)
}

// testsTruth says that a boolean is compared as one.
func testsTruth(m ast.Modifiers) bool {
	return m.HasAny(ast.StringOperators) || !m.Has(ast.Cased) && !m.HasAny(ast.Encodings)
}

func orderKind(m ast.Modifiers) Kind {
	switch {
	case m.Has(ast.GT):
		return Greater
	case m.Has(ast.GTE):
		return GreaterEqual
	case m.Has(ast.LT):
		return Less
	}
	return LessEqual
}

func (b *builder) number(it *Item, kind Kind, text string, part ast.Modifier) {
	n, ok := event.ParseNumeric([]byte(text))
	if !ok {
		it.addNever(b)
		return
	}
	key := text
	if part != 0 {
		key = part.String() + " " + text
	}
	it.add(b.pred(Pred{Kind: kind, Field: it.Field, Text: key, More: &Operand{Number: n, Part: part}}))
}

func (b *builder) regex(it *Item, mods ast.Modifiers, source string) {
	b.expression(it, RegexFlags(mods)+source)
}

// expression adds a regular expression, equal ones of all fields being one.
func (b *builder) expression(it *Item, source string) {
	more, ok := b.expressions[source]
	if !ok {
		more = &Operand{Regex: newExpression(b.machines, source)}
		b.expressions[source] = more
		b.machines++
	}
	it.add(b.pred(Pred{Kind: Regex, Field: it.Field, Text: source, More: more}))
}

// RegexFlags writes the flag modifiers as RE2 has them in front of a source.
func RegexFlags(m ast.Modifiers) string {
	flags := ""
	if m.Has(ast.RegexIgnoreCase) {
		flags += "i"
	}
	if m.Has(ast.RegexMultiline) {
		flags += "m"
	}
	if m.Has(ast.RegexDotAll) {
		flags += "s"
	}
	if flags == "" {
		return ""
	}
	return "(?" + flags + ")"
}

// stringOp is the operator of a text comparison.
func stringOp(m ast.Modifiers, keyword bool) Kind {
	switch {
	case m.Has(ast.StartsWith):
		return Prefix
	case m.Has(ast.EndsWith):
		return Suffix
	case m.Has(ast.Contains), keyword, m.Has(ast.Base64Offset):
		return Contains
	}
	return Exact
}
