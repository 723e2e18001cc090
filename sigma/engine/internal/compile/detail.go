package compile

import (
	"iter"
	"net/netip"
	"strings"

	"github.com/sluicehq/sluice/internal/clip"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/result"
)

// describe says what an entry of matched_fields tells about an item.
func (b *builder) describe(it *Item, src *ast.Item, c context) *result.Match {
	m := &result.Match{Selection: c.selection, Negated: it.Neq}
	var patterns []string
	textual, size := true, 0
	if src.Modifiers.Has(ast.Exists) {
		m.Matcher, textual = "exists", false
		patterns = []string{map[bool]string{true: "false", false: "true"}[it.Exists < 0]}
	}
	for _, v := range src.Values {
		if src.Modifiers.Has(ast.Exists) {
			break
		}
		if size > maxPattern && v.Kind == ast.String && !src.Modifiers.HasAny(oneByOne) { // the fast path of long lists
			textual = textual && !v.HasWildcard()
			continue
		}
		d := describeValue(src.Modifiers, v, it.Keyword)
		textual = textual && d.textual
		for _, p := range d.patterns {
			if size <= maxPattern { // more is cut
				patterns = append(patterns, p)
				size += len(p)
			}
		}
		if len(src.Values) > 1 || d.several {
			m.Matcher = "one_of"
		} else {
			m.Matcher = d.matcher
		}
	}
	if it.Keyword {
		m.Matcher = "keyword"
	}
	m.ShowCase = textual && len(src.Values) > 0
	m.CaseSensitive = m.ShowCase && src.Modifiers.Has(ast.Cased)
	if b.detail == result.Full && m.Matcher != "null" {
		m.HasPattern = true
		m.Pattern = b.intern(clip.Text(strings.Join(patterns, ", "), maxPattern))
	}
	return m
}

// description is what one alternative says about itself.
type description struct {
	matcher  string
	patterns []string
	textual  bool // a string operator
	several  bool // stands for several texts
}

func describeValue(mods ast.Modifiers, v ast.Value, keyword bool) description {
	one := func(matcher, pattern string) description {
		return description{matcher: matcher, patterns: []string{pattern}}
	}
	switch {
	case v.Kind == ast.Null:
		return one("null", "null")
	case v.Kind == ast.Invalid:
		return one("exact", "")
	case mods.Has(ast.Re):
		return one("regex", RegexFlags(mods)+v.Text)
	case mods.Has(ast.CIDR):
		if net, err := netip.ParsePrefix(v.Text); err == nil {
			return one("cidr", net.Masked().String())
		}
		return one("cidr", v.Text)
	case mods.HasAny(ast.OrderOperators):
		return one("numeric", orderSign(mods)+numberText(v))
	case mods.HasAny(ast.TimeParts):
		return one("timestamp", "= "+numberText(v))
	case mods.Has(ast.FieldRef):
		return description{matcher: "fieldref", patterns: []string{referenceName(v)}, textual: true}
	case mods.Has(ast.Expand) && v.Kind == ast.String && hasPlaceholder(templateText(v)):
		return description{matcher: "expand", patterns: []string{templateText(v)}, textual: true}
	case v.Kind == ast.Number && !keyword && !textual(mods):
		return one("numeric", "= "+v.Text)
	case v.Kind == ast.Bool && !keyword && testsTruth(mods):
		return one("bool", v.Text)
	}
	return describeText(mods, v, keyword)
}

// numberText is the text form of a number, however it is written.
func numberText(v ast.Value) string { return string(event.AppendNumberText(nil, []byte(v.Text))) }

func describeText(mods ast.Modifiers, v ast.Value, keyword bool) description {
	cased := mods.Has(ast.Cased)
	names := map[Kind]string{Exact: "exact", Prefix: "startswith", Suffix: "endswith", Contains: "contains"}
	d := description{matcher: names[stringOp(mods, keyword)], textual: true}
	if mods.HasAny(ast.Base64Encodings) || mods.Has(ast.Windash) {
		d.several = mods.Has(ast.Windash) || mods.Has(ast.Base64Offset)
		size := 0
		for s := range spelledVariants(v, mods) {
			d.patterns = append(d.patterns, foldText(s, cased))
			if size += len(s); size > maxPattern {
				break
			}
		}
		return d
	}
	if v.Kind == ast.String && v.HasWildcard() {
		return description{matcher: "regex", patterns: []string{v.Text}}
	}
	text := v.Text
	if v.Kind == ast.String {
		text = v.Plain()
	}
	d.patterns = []string{foldText(text, cased)}
	return d
}

// spelledVariants yields what the alternatives of an encoded or dashed value are
// compared with.
func spelledVariants(v ast.Value, mods ast.Modifiers) iter.Seq[string] {
	text := v.Text
	if v.Kind == ast.String && !v.HasWildcard() {
		text = v.Plain()
	}
	if !mods.HasAny(ast.Base64Encodings) {
		return spellings(text)
	}
	return func(yield func(string) bool) {
		for s := range plainTexts(literalParts(text), mods) {
			for _, e := range encode(toUTF16(s, mods), mods.Has(ast.Base64Offset)) {
				if !yield(e) {
					return
				}
			}
		}
	}
}

func hasPlaceholder(text string) bool {
	for {
		_, rest, ok := strings.Cut(text, "%")
		name, after, closed := strings.Cut(rest, "%")
		if !ok || !closed {
			return false
		}
		if name != "" {
			return true
		}
		text = after
	}
}

func orderSign(m ast.Modifiers) string {
	switch orderKind(m) {
	case Greater:
		return "> "
	case GreaterEqual:
		return ">= "
	case Less:
		return "< "
	}
	return "<= "
}

// maxPattern bounds the text of patterns, in bytes.
const maxPattern = 256
