package jq

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxPatterns is how many compiled regular expressions are kept. Programs may take them
// from values.
const maxPatterns = 64

// matcher matches regular expressions like jq, in time that grows with the text and no
// faster.
type matcher struct {
	account *account
	kept    map[[2]string]*pattern
}

// pattern is a regular expression.
type pattern struct {
	re    *regexp.Regexp
	probe *regexp.Regexp // the same behind any one character, at the beginning of a text
	size  int            // instructions
}

// call is the function __match: regular expression, flags, and whether only to test.
func (m *matcher) call(v any, args []any) any {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s cannot be matched, as it is not a string", kind(v))
	}
	source, ok := args[0].(string)
	if !ok {
		return fmt.Errorf("%s cannot be a regular expression, as it is not a string", kind(args[0]))
	}
	flags, ok := args[1].(string)
	if !ok && args[1] != nil {
		return fmt.Errorf("%s cannot be the flags of a regular expression, as it is not a string", kind(args[1]))
	}
	p, err := m.pattern(source, flags)
	if err != nil {
		return err
	}
	if err := m.account.charge((len(text)+1)*(1+p.size/32)/4, 0); err != nil {
		return err
	}
	if args[2] == true {
		return p.re.MatchString(text)
	}
	var found []any
	at := place{text: text}
	err = p.each(text, strings.ContainsRune(flags, 'g'), func(x []int) error {
		if err := m.account.charge(4+len(x)+(x[1]-x[0])/64, 512+256*len(x)); err != nil {
			return err
		}
		found = append(found, p.match(&at, x))
		return nil
	})
	if err != nil {
		return err
	}
	if found == nil {
		found = []any{}
	}
	return found
}

func (m *matcher) pattern(source, flags string) (*pattern, error) {
	k := [2]string{source, flags}
	if p, ok := m.kept[k]; ok {
		return p, nil
	}
	if err := m.account.charge(1000+len(source)*16, len(source)*256); err != nil {
		return nil, err
	}
	text := source
	for _, f := range flags {
		switch f {
		case 'g':
		case 'i':
			text = "(?i)" + text
		case 'm':
			text = "(?s)" + text
		default:
			return nil, fmt.Errorf("unsupported regular expression flag: %q", flags)
		}
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression: %w", err)
	}
	p := &pattern{re: re}
	if parsed, err := syntax.Parse(text, syntax.Perl); err == nil {
		if program, err := syntax.Compile(parsed.Simplify()); err == nil {
			p.size = len(program.Inst)
		}
	}
	if probe, err := regexp.Compile(`\A(?s:.)(?:` + text + `)`); err == nil {
		p.probe = probe
	}
	if len(m.kept) >= maxPatterns {
		clear(m.kept)
	}
	m.kept[k] = p
	return p, nil
}

// each calls f with the matches in text, and also with empty ones behind another, which
// jq counts and Go does not.
func (p *pattern) each(text string, all bool, f func(x []int) error) error {
	if !all {
		if x := p.re.FindStringSubmatchIndex(text); x != nil {
			return f(x)
		}
		return nil
	}
	found := p.re.FindAllStringSubmatchIndex(text, -1)
	for i, x := range found {
		if err := f(x); err != nil {
			return err
		}
		if p.probe == nil || x[0] == x[1] || i+1 < len(found) && found[i+1][0] == x[1] {
			continue
		}
		_, w := utf8.DecodeLastRuneInString(text[:x[1]])
		y := p.probe.FindStringSubmatchIndex(text[x[1]-w:])
		if y == nil || y[1] != w {
			continue
		}
		empty := make([]int, len(y))
		empty[0], empty[1] = x[1], x[1]
		for j := 2; j < len(y); j++ {
			if empty[j] = -1; y[j] >= 0 {
				empty[j] = y[j] + x[1] - w
			}
		}
		if err := f(empty); err != nil {
			return err
		}
	}
	return nil
}

// match is what jq says of a match.
func (p *pattern) match(at *place, x []int) map[string]any {
	names := p.re.SubexpNames()
	captures := make([]any, len(x)/2-1)
	for j := 1; j < len(x)/2; j++ {
		c := map[string]any{"name": nil, "offset": -1, "length": 0, "string": nil}
		if names[j] != "" {
			c["name"] = names[j]
		}
		if from, to := x[2*j], x[2*j+1]; from >= 0 {
			s := at.text[from:to]
			c["offset"], c["length"], c["string"] = at.of(from), utf8.RuneCountInString(s), s
		}
		captures[j-1] = c
	}
	s := at.text[x[0]:x[1]]
	return map[string]any{"offset": at.of(x[0]), "length": utf8.RuneCountInString(s), "string": s, "captures": captures}
}

// place counts the characters in front of places of a text, which come nearly in order.
type place struct {
	text        string
	byte, runes int
}

func (p *place) of(i int) int {
	if i >= p.byte {
		p.runes += utf8.RuneCountInString(p.text[p.byte:i])
	} else {
		p.runes -= utf8.RuneCountInString(p.text[i:p.byte])
	}
	p.byte = i
	return p.runes
}
