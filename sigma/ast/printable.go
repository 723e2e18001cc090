package ast

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable writes the control characters of s, and those that change the direction
// of text, as escapes: what a file says must never steer a terminal.
func Printable(s string) string {
	if strings.IndexFunc(s, Steers) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if Steers(r) {
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Steers reports whether a character steers a terminal, or hides or turns the text beside it.
// Tabs and line feeds are among them.
func Steers(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}
