package reference

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/sluicehq/sluice/sigma/ast"
)

// operator is how a text is laid against another.
type operator uint8

const (
	wholly operator = iota
	inside
	start
	end
)

func operatorOf(m ast.Modifiers) operator {
	switch {
	case m.Has(ast.Contains):
		return inside
	case m.Has(ast.StartsWith):
		return start
	case m.Has(ast.EndsWith):
		return end
	}
	return wholly
}

func (o operator) String() string {
	return [...]string{"exact", "contains", "startswith", "endswith"}[o]
}

func (o operator) compare(s, with string) bool {
	switch o {
	case inside:
		return strings.Contains(s, with)
	case start:
		return strings.HasPrefix(s, with)
	case end:
		return strings.HasSuffix(s, with)
	}
	return s == with
}

// textual compiles a string value: windash, UTF-16 and Base64 in this order,
// then the operator.
func textual(v ast.Value, m ast.Modifiers, keyword bool) (*alternative, error) {
	op := operatorOf(m)
	if keyword && op == wholly || m.Has(ast.Base64Offset) {
		op = inside
	}
	switch {
	case m.HasAny(ast.Base64Encodings):
		return encodedText(v, m, op)
	case m.Has(ast.Windash):
		return dashedText(v, op, m.Has(ast.Cased)), nil
	case v.HasWildcard():
		return &alternative{
			matcher: "regex", pattern: v.Text,
			matches: globbing(tokens(v, op, m.Has(ast.Cased), false), m.Has(ast.Cased)),
		}, nil
	}
	return plainText(v.Plain(), op, m.Has(ast.Cased)), nil
}

func plainText(want string, op operator, cased bool) *alternative {
	if !cased {
		want = fold(want)
	}
	return &alternative{matcher: op.String(), pattern: want, textual: true, matches: func(_ *Event, v *value) bool {
		s, ok := compared(v, cased)
		return ok && op.compare(s, want)
	}}
}

// encodedText compares with each of the Base64 texts that a value stands for.
func encodedText(v ast.Value, m ast.Modifiers, op operator) (*alternative, error) {
	if v.HasWildcard() {
		return nil, fmt.Errorf("wildcard under an encoding: %s", v.Text)
	}
	cased := m.Has(ast.Cased)
	texts := encoded(v.Plain(), m)
	if !cased {
		for i := range texts {
			texts[i] = fold(texts[i])
		}
	}
	return &alternative{
		matcher: op.String(), pattern: strings.Join(texts, ", "), textual: true,
		matches: func(_ *Event, v *value) bool {
			s, ok := compared(v, cased)
			for _, t := range texts {
				if ok && op.compare(s, t) {
					return true
				}
			}
			return false
		},
	}, nil
}

// dashedText accepts any dash where the value has one. Its alternatives are
// spellings, compared as texts even when they have wildcards.
func dashedText(v ast.Value, op operator, cased bool) *alternative {
	shown := v.Text
	if !v.HasWildcard() {
		shown = v.Plain()
	}
	if !cased {
		shown = fold(shown)
	}
	return &alternative{
		matcher: op.String(), pattern: strings.Join(spellings(shown), ", "), textual: true,
		matches: globbing(tokens(v, op, cased, true), cased),
	}
}

func globbing(toks []token, cased bool) func(*Event, *value) bool {
	return func(_ *Event, v *value) bool {
		s, ok := v.textForm()
		switch {
		case !ok:
			return false
		case cased:
			return glob(toks, []rune(s))
		}
		return glob(toks, v.foldedRunes())
	}
}

// compared is the text of an event's value as it is compared.
func compared(v *value, cased bool) (string, bool) {
	s, ok := v.textForm()
	if ok && !cased {
		s = v.fold()
	}
	return s, ok
}

// encoded lists the Base64 texts a plain text stands for.
func encoded(s string, m ast.Modifiers) []string {
	variants := []string{s}
	if m.Has(ast.Windash) {
		variants = spellings(s)
	}
	var out []string
	for _, s := range variants {
		b := utf16Bytes(s, m)
		if m.Has(ast.Base64) {
			out = append(out, base64.StdEncoding.EncodeToString(b))
			continue
		}
		for k := range 3 {
			e := base64.StdEncoding.EncodeToString(append(make([]byte, k), b...))
			first := [3]int{0, 2, 3}[k]
			last := len(e) - [3]int{0, 3, 2}[(len(b)+k)%3]
			if first < last { // what is left of nothing would match everything
				out = append(out, e[first:last])
			}
		}
	}
	return out
}

func utf16Bytes(s string, m ast.Modifiers) []byte {
	if !m.HasAny(ast.UTF16Encodings) {
		return []byte(s)
	}
	var order binary.AppendByteOrder = binary.LittleEndian
	var out []byte
	if m.Has(ast.UTF16BE) {
		order = binary.BigEndian
	}
	if m.Has(ast.UTF16) {
		out = append(out, 0xFF, 0xFE)
	}
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

// token is one position of a pattern.
type token struct {
	many, one, dash bool
	r               rune
}

const dashes = "-/\u2013\u2014\u2015"

// tokens spells a value out. An operator that leaves an end open puts a many
// there.
func tokens(v ast.Value, op operator, cased, windash bool) []token {
	var out []token
	for _, p := range v.Parts {
		switch p.Kind {
		case ast.Many:
			out = append(out, token{many: true})
		case ast.One:
			out = append(out, token{one: true})
		default:
			for _, r := range p.Text {
				out = append(out, token{r: r})
			}
		}
	}
	for i := range out {
		out[i].dash = windash && isDash(out, i)
	}
	for i := range out {
		if !cased {
			out[i].r = foldRune(out[i].r)
		}
	}
	if op == inside || op == end {
		out = append([]token{{many: true}}, out...)
	}
	if op == inside || op == start {
		out = append(out, token{many: true})
	}
	return out
}

// isDash reports whether windash varies position i: a dash, or a slash that
// begins a word.
func isDash(toks []token, i int) bool {
	word := func(i int) bool {
		r := toks[max(0, min(i, len(toks)-1))].r
		return i >= 0 && i < len(toks) && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
	}
	return toks[i].r == '-' || toks[i].r == '/' && !word(i-1) && word(i+1)
}

// spellings lists the texts that windash makes of a value, each dash in the
// order of dashes, the last position running fastest.
func spellings(s string) []string {
	const enough = 100_000 // more than rules may have
	positions := []int{}
	toks := make([]token, 0, len(s))
	for _, r := range s {
		toks = append(toks, token{r: r})
	}
	for i := range toks {
		if isDash(toks, i) {
			positions = append(positions, i)
		}
	}
	total := 1
	for range positions {
		total *= 5
	}
	var out []string
	for n := range min(total, enough) {
		runes := []rune(s)
		for i, rest := len(positions)-1, n; i >= 0; i, rest = i-1, rest/5 {
			runes[positions[i]] = []rune(dashes)[rest%5]
		}
		out = append(out, string(runes))
	}
	return out
}

// glob matches a whole text against tokens, going back to the last many when
// it gets stuck.
func glob(toks []token, s []rune) bool {
	t, i, retry, from := 0, 0, -1, 0
	for i < len(s) || t < len(toks) {
		switch {
		case t < len(toks) && toks[t].many:
			retry, from = t, i
			t++
		case t < len(toks) && i < len(s) && toks[t].accepts(s[i]):
			t++
			i++
		case retry >= 0 && from < len(s):
			from++
			t, i = retry+1, from
		default:
			return false
		}
	}
	return true
}

func (t token) accepts(r rune) bool {
	return t.one || t.dash && strings.ContainsRune(dashes, r) || t.r == r
}
