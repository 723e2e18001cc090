package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Variables are the environment variables that the template reads, in order.
func (t *Template[S]) Variables() (names []string) {
	for i := range t.pieces {
		if p := &t.pieces[i]; p.class == variable {
			names = append(names, p.name)
		}
	}
	return names
}

// Sample appends the template with one text as the value of every reference that has a
// dot, and whether there is one. Environment variables have their values.
func (t *Template[S]) Sample(dst []byte, text string) (out []byte, dots bool) {
	for i := range t.pieces {
		p := &t.pieces[i]
		dst = append(dst, p.literal...)
		switch p.class {
		case variable:
			dst = append(dst, t.getenv(p.name)...)
		case dotted:
			dst, dots = append(dst, text...), true
		}
	}
	return dst, dots
}

// CheckJSON reports a body of a JSON type that is never JSON, whatever its references
// stand for. A body of no text at all is sent as it is.
func (t *Template[S]) CheckJSON() error {
	var b []byte
	for i := range t.pieces {
		p := &t.pieces[i]
		b = append(b, p.literal...)
		switch {
		case p.class == nothing:
		case p.quoted:
			b = append(p.endEscape(b), "0000"...)
		case p.class == variable || t.isKey(i+1):
			b = append(b, `""`...)
		case t.inNumber(i):
			b = append(b, '1')
		default:
			b = append(b, null...)
		}
	}
	if len(b) == 0 {
		return nil
	}
	var value json.RawMessage
	err := json.Unmarshal(b, &value)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	if syntax.Error() == "unexpected end of JSON input" {
		return errors.New("it ends too early")
	}
	return fmt.Errorf("%w on its line %d", err, 1+bytes.Count(b[:max(0, syntax.Offset-1)], []byte("\n")))
}

const null = "null"

// isKey reports whether a colon comes before anything else from piece i on.
func (t *Template[S]) isKey(i int) bool {
	return i < len(t.pieces) && strings.HasPrefix(strings.TrimLeft(t.pieces[i].literal, " \t\r\n"), ":")
}

// inNumber reports whether the reference of piece i stands beside what numbers are made of.
func (t *Template[S]) inNumber(i int) bool {
	const digits = "0123456789+-.eE"
	before := t.pieces[i].literal
	switch {
	case before == "":
		return i > 0
	case strings.ContainsRune(digits, rune(before[len(before)-1])):
		return true
	}
	after := ""
	if i+1 < len(t.pieces) {
		after = t.pieces[i+1].literal
		if after == "" && t.pieces[i+1].class != nothing {
			return true
		}
	}
	return after != "" && strings.ContainsRune(digits, rune(after[0]))
}
