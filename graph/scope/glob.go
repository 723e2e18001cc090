package scope

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Glob is a pattern for whole texts. Matching takes time in proportion to the text,
// whatever the pattern.
type Glob struct {
	text string
	re   *regexp.Regexp
}

// CompileGlob reads a pattern; the package comment has its syntax. Groups of
// alternatives may stand in groups. Errors show the pattern.
func CompileGlob(pattern string) (*Glob, error) {
	fail := func(err error) (*Glob, error) {
		return nil, fmt.Errorf("glob '%s' cannot be read: %w", pattern, err)
	}
	if !utf8.ValidString(pattern) {
		return fail(errors.New("it is not UTF-8"))
	}
	t := translator{rest: []rune(pattern)}
	t.out.WriteString(`\A(?s:`)
	if err := t.translate(); err != nil {
		return fail(err)
	}
	t.out.WriteString(`)\z`)
	re, err := regexp.Compile(t.out.String())
	if err != nil {
		return fail(err)
	}
	return &Glob{pattern, re}, nil
}

// Match reports whether the pattern covers the whole text.
func (g *Glob) Match(text string) bool { return g.re.MatchString(text) }

// String returns the pattern.
func (g *Glob) String() string { return g.text }

// translator writes a glob as a regular expression.
type translator struct {
	rest  []rune
	out   strings.Builder
	depth int // of groups
}

func (t *translator) translate() error {
	for len(t.rest) > 0 {
		r := t.take()
		switch {
		case r == '*':
			t.out.WriteString(".*")
		case r == '?':
			t.out.WriteByte('.')
		case r == '[':
			if err := t.class(); err != nil {
				return err
			}
		case r == '{':
			t.depth++
			t.out.WriteString("(?:")
		case r == '}':
			if t.depth--; t.depth < 0 {
				return errors.New("} has no { (the character itself is \\})")
			}
			t.out.WriteByte(')')
		case r == ',' && t.depth > 0:
			t.out.WriteByte('|')
		default:
			literal, err := t.literal(r)
			if err != nil {
				return err
			}
			t.out.WriteString(regexp.QuoteMeta(string(literal)))
		}
	}
	if t.depth > 0 {
		return errors.New("{ is not closed (the character itself is \\{)")
	}
	return nil
}

func (t *translator) take() rune {
	r := t.rest[0]
	t.rest = t.rest[1:]
	return r
}

// literal returns the character that r, which was taken, stands for.
func (t *translator) literal(r rune) (rune, error) {
	if r != '\\' {
		return r, nil
	}
	if len(t.rest) == 0 {
		return 0, errors.New("nothing is behind the last backslash")
	}
	return t.take(), nil
}

var errClassOpen = errors.New("[ is not closed (the character itself is \\[)")

// class translates what is behind a [. A ] in the first place is a member.
func (t *translator) class() error {
	t.out.WriteByte('[')
	if len(t.rest) > 0 && t.rest[0] == '!' {
		t.take()
		t.out.WriteByte('^')
	}
	for first := true; ; first = false {
		if len(t.rest) == 0 {
			return errClassOpen
		}
		r := t.take()
		if r == ']' && !first {
			t.out.WriteByte(']')
			return nil
		}
		low, err := t.literal(r)
		if err != nil {
			return errClassOpen
		}
		high := low
		if len(t.rest) > 1 && t.rest[0] == '-' && t.rest[1] != ']' {
			t.take()
			if high, err = t.literal(t.take()); err != nil {
				return errClassOpen
			}
		}
		if high < low {
			return fmt.Errorf("the range %c-%c is empty", low, high)
		}
		fmt.Fprintf(&t.out, `\x{%x}-\x{%x}`, low, high)
	}
}
