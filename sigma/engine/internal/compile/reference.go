package compile

import (
	"fmt"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

// fieldRef adds the comparison with another field of the whole event.
func (b *builder) fieldRef(it *Item, src *ast.Item, v ast.Value, c context) {
	mods := src.Modifiers
	ref := b.referred(src, referenceName(v), c.version)
	p := Pred{
		Kind: FieldRef, Op: stringOp(mods, false), Cased: mods.Has(ast.Cased), Field: it.Field,
		Text: fmt.Sprintf("%d", ref), More: &Operand{Ref: ref},
	}
	it.add(b.pred(p))
	if it.Neq {
		p.Kind = RefUsable
		it.Usable = append(it.Usable, b.pred(p))
	}
}

// referenceName is the name of the field that a value refers to.
func referenceName(v ast.Value) string {
	if v.Kind == ast.String {
		return v.Plain()
	}
	return v.Text
}

// referred returns the field that a value of an item refers to by a name.
func (b *builder) referred(src *ast.Item, name string, version int) uint32 {
	if paths := src.References[name]; len(paths) > 0 {
		return b.fields.AddPaths(paths)
	}
	return b.fields.Add(name, version)
}

// expand adds the comparison with a template. It reports false when the text has
// no placeholder and is to be read as ordinary text.
func (b *builder) expand(it *Item, src *ast.Item, v ast.Value, c context) bool {
	if v.Kind != ast.String {
		return false
	}
	mods := src.Modifiers
	pieces, found := b.template(templateText(v), func(name string) uint32 { return b.referred(src, name, c.version) })
	if !found {
		return false
	}
	p := Pred{
		Kind: Expand, Op: stringOp(mods, false), Cased: mods.Has(ast.Cased), Field: it.Field, Text: piecesKey(pieces),
		More: &Operand{Template: pieces},
	}
	it.add(b.pred(p))
	if it.Neq {
		p.Kind = ExpandUsable
		it.Usable = append(it.Usable, b.pred(p))
	}
	return true
}

// templateText decodes the escapes of a value; wildcards are literal.
func templateText(v ast.Value) string {
	var s strings.Builder
	for _, p := range v.Parts {
		switch p.Kind {
		case ast.Many:
			s.WriteByte('*')
		case ast.One:
			s.WriteByte('?')
		default:
			s.WriteString(p.Text)
		}
	}
	return s.String()
}

// piecesKey tells templates apart.
func piecesKey(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.Field != 0 {
			fmt.Fprintf(&b, "%d,", p.Field)
		} else {
			fmt.Fprintf(&b, "%q,", p.Text)
		}
	}
	return b.String()
}

// template splits text at %name%. An unclosed percent sign is literal, and two
// in a row yield nothing.
func (b *builder) template(text string, field func(name string) uint32) (pieces []Piece, found bool) {
	for {
		before, rest, ok := strings.Cut(text, "%")
		name, after, closed := strings.Cut(rest, "%")
		if !ok || !closed {
			if text != "" {
				pieces = append(pieces, Piece{Text: text})
			}
			return pieces, found
		}
		if before != "" {
			pieces = append(pieces, Piece{Text: before})
		}
		if name != "" {
			found = true
			pieces = append(pieces, Piece{Text: name, Field: field(name)})
		}
		text = after
	}
}

// Compare applies a text operator to texts that are folded alike.
func Compare(op Kind, text, operand []byte) bool {
	switch op {
	case Prefix:
		return len(text) >= len(operand) && string(text[:len(operand)]) == string(operand)
	case Suffix:
		return len(text) >= len(operand) && string(text[len(text)-len(operand):]) == string(operand)
	case Contains:
		return contains(text, string(operand))
	}
	return string(text) == string(operand)
}

// foldText folds s unless comparison is case-sensitive.
func foldText(s string, cased bool) string {
	if cased {
		return s
	}
	return event.Fold(s)
}
