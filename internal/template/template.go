package template

import (
	"errors"
	"os"
	"strings"

	"github.com/sluicehq/sluice/sigma/event"
)

// Template is a template that was read. It never changes, and any goroutine may
// render it.
type Template[S any] struct {
	pieces []piece[S]
	getenv func(string) string
}

// piece is literal text, then perhaps a reference behind it.
type piece[S any] struct {
	literal string
	class   class
	name    string   // of the environment variable
	value   Value[S] // of the reference with a dot
	quoted  bool     // the reference stands within a JSON string
	escape  bool     // the literal ends in a backslash that begins an escape of the string
}

// class says what stands behind the literal of a piece.
type class uint8

const (
	nothing class = iota
	variable
	dotted
)

// Parse reads a template. Field is where it stands, as messages name it: "url",
// "headers.X-Title", "body". The error joins every fault, each a *ReferenceError.
func Parse[S any](text, field string, rules Rules[S]) (*Template[S], error) {
	t := &Template[S]{getenv: rules.Getenv}
	if t.getenv == nil {
		t.getenv = os.Getenv
	}
	var faults []error
	var in document
	for text != "" {
		literal, reference, rest := next(text)
		text = rest
		in.read(literal)
		p := piece[S]{literal: literal, quoted: in.quoted, escape: in.escape}
		switch {
		case reference == "":
		case !strings.Contains(reference, "."):
			p.class, p.name = variable, reference
		default:
			var err error
			if p.value, err = rules.lookup(reference); err != nil {
				faults = append(faults, rules.fault(reference, field, err))
			}
			p.class = dotted
		}
		in.escape = false
		t.pieces = append(t.pieces, p)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return t, nil
}

func (r *Rules[S]) lookup(reference string) (Value[S], error) {
	if r.Lookup == nil {
		return nil, ErrUnknown
	}
	return r.Lookup(reference)
}

// next cuts the text in front of the first reference, and the reference, off.
func next(text string) (literal, reference, rest string) {
	for from := 0; ; {
		open := strings.Index(text[from:], "${")
		if open < 0 {
			return text, "", ""
		}
		open += from
		n := strings.IndexByte(text[open+2:], '}')
		switch n {
		case -1:
			return text, "", ""
		case 0:
			from = open + 2
		default:
			end := open + 2 + n
			return text[:open], text[open+2 : end], text[end+1:]
		}
	}
}

// document follows literal text through the strings of JSON.
type document struct {
	quoted bool // within a string
	escape bool // behind a backslash of it
}

func (j *document) read(literal string) {
	for i := range len(literal) {
		switch c := literal[i]; {
		case j.escape:
			j.escape = false
		case c == '"':
			j.quoted = !j.quoted
		case c == '\\':
			j.escape = j.quoted
		}
	}
}

// Literal returns the text of a template without references, and whether it is one.
func (t *Template[S]) Literal() (string, bool) {
	switch {
	case len(t.pieces) == 0:
		return "", true
	case len(t.pieces) == 1 && t.pieces[0].class == nothing:
		return t.pieces[0].literal, true
	}
	return "", false
}

// Append appends the template with the values of an S, escaped for the place.
func (t *Template[S]) Append(dst []byte, place Place, of S) []byte {
	for i := range t.pieces {
		p := &t.pieces[i]
		dst = append(dst, p.literal...)
		switch p.class {
		case variable:
			dst = p.appendVariable(dst, place, t.getenv(p.name))
		case dotted:
			dst = p.appendValue(dst, place, of)
		}
	}
	return dst
}

func (p *piece[S]) appendVariable(dst []byte, place Place, value string) []byte {
	switch {
	case place != JSON:
		return append(dst, value...)
	case !p.quoted:
		return event.AppendQuoted(dst, value)
	}
	dst = p.endEscape(dst)
	at := len(dst)
	return escapeString(append(dst, value...), at)
}

func (p *piece[S]) appendValue(dst []byte, place Place, of S) []byte {
	if place == JSON && !p.quoted {
		return p.value.AppendJSON(dst, of)
	}
	if place == JSON {
		dst = p.endEscape(dst)
	}
	at := len(dst)
	dst = p.value.AppendText(dst, of)
	switch place {
	case URL:
		return escapeURL(dst, at)
	case JSON:
		return escapeString(dst, at)
	case Expression:
		return escapeExpression(dst, at)
	}
	return dst
}

// endEscape makes a backslash in front of the reference stand for itself: with the
// first character of the value it would be an escape that the value chooses.
func (p *piece[S]) endEscape(dst []byte) []byte {
	if p.escape {
		return append(dst, '\\')
	}
	return dst
}
