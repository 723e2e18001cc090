package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/sluicehq/sluice/sigma/event"
)

// MaxDepth is how many containers within each other a value may have.
const MaxDepth = 128

// ErrSyntax is text that is not JSON, or is nested too deep.
var ErrSyntax = errors.New("not JSON")

// MaxDigits is how many digits a number may have that stays as it is spelled.
const MaxDigits = 1000

// Parse reads the one value that text is, with white space around it.
func Parse(text []byte) (any, error) { return ParseWithin(text, MaxDigits) }

// ParseWithin is Parse for numbers of so many digits; those of more become doubles.
func ParseWithin(text []byte, digits int) (any, error) {
	p := parser{text: text, source: string(text), build: true, digits: digits}
	v := p.value(p.space(0), 0)
	if p.failed || p.space(p.at) != len(text) {
		return nil, ErrSyntax
	}
	return v, nil
}

// Split appends the values of a line of one or more to dst, each as its text. With
// containers, one that is neither an object nor an array is an error. Behind a number or
// a literal something has to separate it from the next value.
func Split(dst [][]byte, line []byte, containers bool) ([][]byte, error) {
	p := parser{text: line}
	kept := len(dst)
	for i := p.space(0); ; {
		if i == len(line) || containers && line[i] != '{' && line[i] != '[' {
			return dst[:kept], ErrSyntax
		}
		if p.value(i, 0); p.failed {
			return dst[:kept], ErrSyntax
		}
		dst = append(dst, line[i:p.at:p.at])
		i = p.space(p.at)
		if i == len(line) {
			return dst, nil
		}
		if i == p.at && !separates(line[i-1]) && !separates(line[i]) {
			return dst[:kept], ErrSyntax
		}
	}
}

// separates reports whether a character is the first or last of a value that needs no
// white space beside it.
func separates(c byte) bool { return c == '"' || c == '{' || c == '}' || c == '[' || c == ']' }

// parser reads values. It makes them only when it is to build.
type parser struct {
	text    []byte
	source  string // the same; what is built lies in it
	at      int    // behind the value that was read last
	build   bool
	digits  int // of a number that is built as it is spelled
	failed  bool
	scratch []byte // for strings with escapes
}

func (p *parser) space(i int) int {
	for i < len(p.text) && (p.text[i] == ' ' || p.text[i] == '\t' || p.text[i] == '\n' || p.text[i] == '\r') {
		i++
	}
	return i
}

func (p *parser) fail() any {
	p.failed = true
	return nil
}

// value reads the value at i inside depth containers.
func (p *parser) value(i, depth int) any {
	if i >= len(p.text) {
		return p.fail()
	}
	switch c := p.text[i]; c {
	case '{':
		return p.object(i, depth+1)
	case '[':
		return p.array(i, depth+1)
	case '"':
		return p.boxed(p.string(i))
	case 't':
		return p.literal(i, "true", true)
	case 'f':
		return p.literal(i, "false", false)
	case 'n':
		return p.literal(i, "null", nil)
	}
	return p.number(i)
}

func (p *parser) boxed(s string) any {
	if !p.build {
		return nil
	}
	return s
}

func (p *parser) literal(i int, word string, v any) any {
	if !bytes.HasPrefix(p.text[i:], []byte(word)) {
		return p.fail()
	}
	p.at = i + len(word)
	return v
}

func (p *parser) number(i int) any {
	end, count := i, 0
	digits := func() bool {
		from := end
		for end < len(p.text) && p.text[end] >= '0' && p.text[end] <= '9' {
			end++
		}
		count += end - from
		return end > from
	}
	is := func(a, b byte) bool {
		if end < len(p.text) && (p.text[end] == a || p.text[end] == b) {
			end++
			return true
		}
		return false
	}
	is('-', '-')
	ok := is('0', '0') || digits()
	if ok && is('.', '.') {
		ok = digits()
	}
	if ok && is('e', 'E') {
		is('-', '+')
		ok = digits()
	}
	if !ok {
		return p.fail()
	}
	p.at = end
	if !p.build {
		return nil
	}
	if count > p.digits {
		return Double(p.source[i:end])
	}
	return json.Number(p.source[i:end])
}

// Double is the double that is nearest to a number: the largest for what is beyond all.
func Double(number string) float64 {
	f, _ := strconv.ParseFloat(number, 64) // what is out of range is infinite
	return min(max(f, -math.MaxFloat64), math.MaxFloat64)
}

// string reads the string at i.
func (p *parser) string(i int) string {
	escaped := false
	for end := i + 1; end < len(p.text); end++ {
		switch c := p.text[end]; {
		case c == '"':
			p.at = end + 1
			if !p.build {
				return ""
			}
			if escaped || !utf8.Valid(p.text[i:end]) {
				p.scratch = event.AppendUnquoted(p.scratch[:0], p.text[i:end+1])
				return string(p.scratch)
			}
			return p.source[i+1 : end]
		case c < ' ':
			p.failed = true
			return ""
		case c == '\\':
			escaped = true
			if end++; end >= len(p.text) || !p.escape(&end) {
				p.failed = true
				return ""
			}
		}
	}
	p.failed = true
	return ""
}

// escape steps over what follows a backslash; i ends on its last character.
func (p *parser) escape(i *int) bool {
	switch p.text[*i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
	default:
		return false
	}
	if *i+4 >= len(p.text) {
		return false
	}
	for _, c := range p.text[*i+1 : *i+5] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	*i += 4
	return true
}

func (p *parser) array(i, depth int) any {
	if depth > MaxDepth {
		return p.fail()
	}
	list := []any{}
	if i = p.space(i + 1); i < len(p.text) && p.text[i] == ']' {
		p.at = i + 1
		return p.list(list)
	}
	for {
		v := p.value(i, depth)
		if p.failed {
			return nil
		}
		if p.build {
			list = append(list, v)
		}
		switch i = p.space(p.at); {
		case i == len(p.text):
			return p.fail()
		case p.text[i] == ']':
			p.at = i + 1
			return p.list(list)
		case p.text[i] != ',':
			return p.fail()
		}
		i = p.space(i + 1)
	}
}

// list boxes a list, if it was built.
func (p *parser) list(list []any) any {
	if !p.build {
		return nil
	}
	return list
}

func (p *parser) object(i, depth int) any {
	if depth > MaxDepth {
		return p.fail()
	}
	var members map[string]any
	if p.build {
		members = make(map[string]any)
	}
	if i = p.space(i + 1); i < len(p.text) && p.text[i] == '}' {
		p.at = i + 1
		return p.members(members)
	}
	for {
		if i >= len(p.text) || p.text[i] != '"' {
			return p.fail()
		}
		key := p.string(i)
		if p.failed {
			return nil
		}
		if i = p.space(p.at); i == len(p.text) || p.text[i] != ':' {
			return p.fail()
		}
		v := p.value(p.space(i+1), depth)
		if p.failed {
			return nil
		}
		if p.build {
			members[key] = v
		}
		switch i = p.space(p.at); {
		case i == len(p.text):
			return p.fail()
		case p.text[i] == '}':
			p.at = i + 1
			return p.members(members)
		case p.text[i] != ',':
			return p.fail()
		}
		i = p.space(i + 1)
	}
}

// members boxes an object, if it was built.
func (p *parser) members(m map[string]any) any {
	if !p.build {
		return nil
	}
	return m
}
