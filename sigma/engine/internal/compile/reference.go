package compile

import (
	"fmt"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

// fieldRef adds the comparison with another field of the whole event.
func (b *builder) fieldRef(it *Item, mods ast.Modifiers, name string, c context) {
	ref := b.fields.Add(name, c.version)
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

// expand adds the comparison with a template. It reports false when the text has
// no placeholder and is to be read as ordinary text.
func (b *builder) expand(it *Item, mods ast.Modifiers, v ast.Value) bool {
	if v.Kind != ast.String {
		return false
	}
	text := templateText(v)
	pieces, found := b.template(text)
	if !found {
		return false
	}
	p := Pred{
		Kind: Expand, Op: stringOp(mods, false), Cased: mods.Has(ast.Cased), Field: it.Field, Text: text,
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

// template splits text at %name%. An unclosed percent sign is literal, and two
// in a row yield nothing.
func (b *builder) template(text string) (pieces []Piece, found bool) {
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
			pieces = append(pieces, Piece{Text: name, Field: b.fields.Add(name, 0)})
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
