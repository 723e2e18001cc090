package reference_test

import (
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sluicehq/sluice/sigma/ast"
)

// forItem is a JSON value for one alternative of the item, or something else.
func (g *Generator) forItem(it *ast.Item) string {
	if len(it.Values) == 0 || it.Modifiers.Has(ast.Exists) || g.oneIn(12) {
		return g.odd()
	}
	v := pick(g.rng, it.Values)
	switch v.Kind {
	case ast.Null, ast.Invalid:
		return pick(g.rng, []string{"null", `""`, "[null]", "0"})
	case ast.Bool:
		return pick(g.rng, []string{"true", "false", `"YES"`, `"no"`, "1", `"0"`, `"True"`})
	}
	m := it.Modifiers
	switch {
	case m.HasAny(ast.TimeParts):
		return g.value(g.time())
	case v.Kind == ast.Number && !m.HasAny(ast.StringOperators), m.HasAny(ast.OrderOperators):
		return g.number(v.Text)
	}
	return g.value(g.text(v, m))
}

// odd is a value that rules seldom expect.
func (g *Generator) odd() string {
	return pick(g.rng, []string{
		"null", `""`, "0", "-0", "1.50", "1e3", "1E400", "18446744073709551615", "9007199254740993", "true", "false", "[]", "{}",
		`{"a":"foo"}`, "[null]", `["foo",null,1]`, `"4688"`, `"4688.0"`, `"0x1250"`, "\"\xff\xfe\"", `"\ud800"`, `"\ud83d\ude00"`, `"+5"`, `"5."`, `".5"`, `"1e3"`,
	})
}

func (g *Generator) number(s string) string {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return g.value(s)
	}
	if g.oneIn(3) {
		f += float64(g.rng.IntN(3) - 1)
	}
	spelled := strconv.FormatFloat(f, 'f', -1, 64)
	switch g.rng.IntN(6) {
	case 0:
		spelled = strconv.FormatFloat(f, 'e', -1, 64)
	case 1:
		spelled = strconv.FormatFloat(f, 'f', 2, 64)
	case 2:
		spelled = s
	}
	if g.oneIn(3) {
		return `"` + spelled + `"`
	}
	if !json.Valid([]byte(spelled)) {
		return `"` + spelled + `"`
	}
	return spelled
}

func (g *Generator) time() string {
	t := time.Unix(1720583100+g.rng.Int64N(1e8), 0).UTC()
	return pick(g.rng, []string{
		t.Format(time.RFC3339), t.Format("2006-01-02 15:04:05"), t.Format("2006-01-02T15:04:05.123456789"),
		t.Format("2006-01-02T15:04:05-07:00"), t.Format("2006-01-02T15:04:05") + pick(g.rng, []string{"+0200", "-23:59", "+24:00", "Z", "z"}), strconv.FormatInt(t.Unix(), 10), strconv.FormatInt(t.UnixMilli(), 10), "never",
	})
}

// text is a text that the value, under the modifiers, probably matches.
func (g *Generator) text(v ast.Value, m ast.Modifiers) string {
	switch {
	case m.Has(ast.Re):
		return g.around(g.matching(v.Text), ast.Modifiers(ast.Contains))
	case m.Has(ast.CIDR):
		return g.address(v.Text)
	case m.HasAny(ast.Encodings):
		return g.encoded(v, m)
	}
	var b strings.Builder
	for _, p := range v.Parts {
		switch p.Kind {
		case ast.Many:
			b.WriteString(pick(g.rng, []string{"", "x", "\n", "foo bar", "é", "..."}))
		case ast.One:
			b.WriteString(pick(g.rng, []string{"x", "\n", "é", "\U0001F600", "", "\ufffd"}))
		default:
			b.WriteString(p.Text)
		}
	}
	s := b.String()
	if v.Kind != ast.String {
		s = v.Text
	}
	if m.Has(ast.Windash) && !g.oneIn(3) {
		s = strings.ReplaceAll(s, "-", pick(g.rng, []string{"-", "/", "\u2013", "\u2014", "\u2015"}))
	}
	return g.around(g.vary(s), m)
}

// around puts something where the operator leaves an end open, and sometimes
// where it does not.
func (g *Generator) around(s string, m ast.Modifiers) string {
	noise := func(open bool) string {
		if open != g.oneIn(12) {
			return pick(g.rng, []string{"", "x", " ", "\\", "C:\\Windows\\", "é", "-a /b ", "foo"})
		}
		return ""
	}
	return noise(m.Has(ast.Contains) || m.Has(ast.EndsWith)) + s + noise(m.Has(ast.Contains) || m.Has(ast.StartsWith))
}

// vary changes the case of a text, its look-alikes, and now and then a letter.
func (g *Generator) vary(s string) string {
	switch g.rng.IntN(7) {
	case 0:
		s = strings.ToUpper(s)
	case 1:
		s = strings.ToLower(s)
	case 2:
		s = strings.Map(func(r rune) rune {
			if g.oneIn(3) {
				return unicode.SimpleFold(r)
			}
			return r
		}, s)
	case 3:
		if len(s) > 0 && g.oneIn(2) {
			i := g.rng.IntN(len(s))
			s = s[:i] + pick(g.rng, []string{"", "x", "\xff"}) + s[i+1:]
		}
	}
	return s
}

func (g *Generator) address(network string) string {
	p, err := netip.ParsePrefix(network)
	if err != nil {
		return network
	}
	b := p.Masked().Addr().AsSlice()
	b[len(b)-1] |= byte(g.rng.IntN(8))
	if g.oneIn(4) {
		b[0] ^= 1
	}
	a, _ := netip.AddrFromSlice(b)
	s := a.String()
	switch {
	case g.oneIn(5) && a.Is4():
		s = "::ffff:" + s
	case g.oneIn(10):
		s += pick(g.rng, []string{":80", "%eth0", " "})
	}
	return s
}

func (g *Generator) encoded(v ast.Value, m ast.Modifiers) string {
	b := []byte(v.Plain())
	if m.HasAny(ast.UTF16Encodings) {
		var wide []byte
		for _, c := range v.Plain() {
			wide = append(wide, byte(c), byte(c>>8))
		}
		b = wide
	}
	if !m.HasAny(ast.Base64Encodings) {
		return g.vary(v.Plain())
	}
	s := base64.StdEncoding.EncodeToString(b)
	if m.Has(ast.Base64Offset) {
		b = append([]byte("abcd"[:g.rng.IntN(4)]), b...)
		s = base64.StdEncoding.EncodeToString(append(b, "xyz"[:g.rng.IntN(4)]...))
	}
	return g.around(s, m)
}
