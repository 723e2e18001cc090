package compile

import (
	"encoding/base64"
	"iter"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

// text adds the predicates of a text comparison: windash, UTF-16 and Base64 are
// applied in this order, then the operator.
func (b *builder) text(it *Item, src *ast.Item, v ast.Value) {
	mods := src.Modifiers
	op := stringOp(mods, it.Keyword)
	if v.Kind == ast.String && !mods.Has(ast.Windash) && !mods.HasAny(ast.Encodings) { // the fast path
		it.add(b.parts(it.Field, v.Parts, op, mods.Has(ast.Cased)))
		return
	}
	variants := textVariants(v, mods, len(src.Values))
	if mods.Has(ast.Base64Offset) {
		op = Contains
	}
	cased := mods.Has(ast.Cased)
	ids := make([]uint32, 0, len(variants))
	for _, parts := range variants {
		ids = append(ids, b.parts(it.Field, parts, op, cased))
	}
	b.addVariants(it, ids)
}

// addVariants adds the predicates of one alternative. Under all they become one
// predicate first, since any of them satisfies the alternative.
func (b *builder) addVariants(it *Item, ids []uint32) {
	if len(ids) == 0 {
		it.addNever(b)
		return
	}
	if !it.All || len(ids) == 1 {
		it.Alts = append(it.Alts, ids...)
		return
	}
	var key strings.Builder
	for _, id := range ids {
		key.WriteString(b.preds[id].Text)
		key.WriteByte(0)
	}
	first := &b.preds[ids[0]]
	it.add(b.pred(Pred{
		Kind: AnyOf, Op: first.Kind, Cased: first.Cased, Field: it.Field, Text: key.String(), More: &Operand{Gates: ids},
	}))
}

func (b *builder) parts(field uint32, parts []ast.Part, op Kind, cased bool) uint32 {
	plain := len(parts) == 0 || len(parts) == 1 && parts[0].Kind == ast.Literal
	if plain {
		s := ""
		if len(parts) == 1 {
			s = parts[0].Text
		}
		if !cased {
			s = event.Fold(s)
		}
		return b.pred(Pred{Kind: op, Cased: cased, Field: field, Text: s})
	}
	p := newPattern(parts, op, cased)
	return b.pred(Pred{Kind: Glob, Cased: cased, Field: field, Text: p.String(), More: &Operand{Glob: p}})
}

// Texts with a few dashes are written out, while the item has few of them, instead of
// being matched by dash classes.
const (
	maxSpelledDashes = 2
	maxSpelledValues = 256
)

// textVariants returns the texts that an alternative of an item with so many values
// stands for.
func textVariants(v ast.Value, mods ast.Modifiers, values int) [][]ast.Part {
	parts := v.Parts
	if v.Kind != ast.String {
		parts = []ast.Part{{Kind: ast.Literal, Text: v.Text}}
	}
	if mods.HasAny(ast.Base64Encodings) {
		var out [][]ast.Part
		for s := range plainTexts(parts, mods) {
			for _, e := range encode(toUTF16(s, mods), mods.Has(ast.Base64Offset)) {
				out = append(out, literalParts(e))
			}
		}
		return out
	}
	if !mods.Has(ast.Windash) {
		return [][]ast.Part{parts}
	}
	if len(parts) == 1 && parts[0].Kind == ast.Literal {
		if n := len(ast.DashPositions(parts[0].Text)); n == 0 {
			return [][]ast.Part{parts}
		} else if n <= maxSpelledDashes && values <= maxSpelledValues {
			var out [][]ast.Part
			for s := range spellings(parts[0].Text) {
				out = append(out, literalParts(s))
			}
			return out
		}
	}
	return [][]ast.Part{dashParts(parts)}
}

// plainTexts yields the texts that are encoded.
func plainTexts(parts []ast.Part, mods ast.Modifiers) iter.Seq[string] {
	text := plainText(parts)
	if mods.Has(ast.Windash) {
		return spellings(text)
	}
	return func(yield func(string) bool) { yield(text) }
}

func plainText(parts []ast.Part) string {
	v := ast.Value{Parts: parts}
	return v.Plain()
}

func literalParts(s string) []ast.Part {
	if s == "" {
		return nil
	}
	return []ast.Part{{Kind: ast.Literal, Text: s}}
}

// spellings yields the texts that s stands for under windash.
func spellings(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		spell(yield, make([]byte, 0, 4*len(s)), s, ast.DashPositions(s), 0)
	}
}

// spell yields what head becomes with s from done on, dashes at the positions in at.
func spell(yield func(string) bool, head []byte, s string, at []int, done int) bool {
	if len(at) == 0 {
		return yield(string(head) + s[done:])
	}
	head = append(head, s[done:at[0]]...)
	for _, d := range ast.Dashes {
		if !spell(yield, utf8.AppendRune(head, d), s, at[1:], at[0]+1) {
			return false
		}
	}
	return true
}

// dashParts replaces dashes in literal parts by dash classes. Whether a slash
// begins a word is decided within its part.
func dashParts(parts []ast.Part) []ast.Part {
	var out []ast.Part
	for _, p := range parts {
		if p.Kind != ast.Literal {
			out = append(out, p)
			continue
		}
		done := 0
		for _, i := range ast.DashPositions(p.Text) {
			if i > done {
				out = append(out, ast.Part{Kind: ast.Literal, Text: p.Text[done:i]})
			}
			out = append(out, ast.Part{Kind: dashPart})
			done = i + 1
		}
		if done < len(p.Text) {
			out = append(out, ast.Part{Kind: ast.Literal, Text: p.Text[done:]})
		}
	}
	return out
}

// toUTF16 returns the bytes that are encoded.
func toUTF16(s string, mods ast.Modifiers) []byte {
	if !mods.HasAny(ast.UTF16Encodings) {
		return []byte(s)
	}
	var out []byte
	if mods.Has(ast.UTF16) {
		out = append(out, 0xFF, 0xFE)
	}
	for _, u := range utf16.Encode([]rune(s)) {
		if mods.Has(ast.UTF16BE) {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

// encode returns the Base64 text, or with offset the three texts of which one
// occurs wherever the bytes were encoded as part of something larger.
func encode(data []byte, offset bool) []string {
	if !offset {
		return []string{base64.StdEncoding.EncodeToString(data)}
	}
	heads, tails := [3]int{0, 2, 3}, [3]int{0, 3, 2}
	var out []string
	for k := range 3 {
		s := base64.StdEncoding.EncodeToString(append(make([]byte, k), data...))
		from, to := heads[k], len(s)-tails[(len(data)+k)%3]
		if from < to {
			out = append(out, s[from:to])
		} // a shorter text leaves no stable character at this offset, and "" would match anything
	}
	return out
}
