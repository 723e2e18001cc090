package terminal

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Places is how many places a text takes on a terminal.
func Places(s string) int {
	n := 0
	for _, r := range s {
		n += placesOf(r)
	}
	return n
}

// placesOf counts a character rather too wide than too narrow.
func placesOf(r rune) int {
	const emojiStyle = '\ufe0f' // makes the one before it wide
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me) && r != emojiStyle:
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Shorten cuts a text to a width; three dots stand for what is missing.
func Shorten(s string, most int) string {
	const dots = "..."
	if len(s) <= most || Places(s) <= most {
		return s
	}
	if most <= len(dots) {
		return dots[:most]
	}
	n, end := len(dots), 0
	for i, r := range s {
		if n += placesOf(r); n > most {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	return s[:end] + dots
}

// Cut returns the first characters of a text.
func Cut(s string, width int) string {
	if len(s) <= width {
		return s
	}
	n := 0
	for i := range s {
		if n == width {
			return s[:i]
		}
		n++
	}
	return s
}

// Wrap breaks a text at blanks into lines of at most width characters. Only a word
// that is longer has a longer line.
func Wrap(text string, width int) []string {
	lines, column := []string{""}, 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		last := &lines[len(lines)-1]
		switch {
		case column == 0:
			*last, column = word, n
		case column+1+n > width:
			lines, column = append(lines, word), n
		default:
			*last, column = *last+" "+word, column+1+n
		}
	}
	return lines
}

// trimBlanks removes blanks at the end.
func trimBlanks(buf *bytes.Buffer) {
	buf.Truncate(len(bytes.TrimRight(buf.Bytes(), " ")))
}

// Printable keeps what an event says from steering the terminal.
func Printable(s string) string {
	if !strings.ContainsFunc(s, isControl) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, s)
}

// isControl reports whether a character moves or hides others: control
// characters, and those that turn the direction of text or break lines.
func isControl(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r > 0xa0 && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
