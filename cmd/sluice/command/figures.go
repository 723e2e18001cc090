package command

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Colours of figures that want attention.
const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
)

// figure is a named value that people look at.
type figure struct{ name, value, color string }

// writeFigures writes a table of figures for a terminal. Values that are too long
// for it go on below, in their column.
func writeFigures(out *console, list []figure) error {
	header := figure{name: "METRIC", value: "VALUE"}
	names, values := len(header.name), len(header.value)
	for _, f := range list {
		names = max(names, utf8.RuneCountInString(printable(f.name)))
		values = max(values, utf8.RuneCountInString(printable(f.value)))
	}
	const between = 2
	room := max(20, out.columns()-names-between)
	values = min(values, room)
	var b bytes.Buffer
	line := func(name, value, color string) {
		text := name + strings.Repeat(" ", names+between-utf8.RuneCountInString(name)) + value
		if color != "" && out.color {
			text = color + text + "\x1b[0m"
		}
		b.WriteString(text + "\n")
	}
	line(header.name, header.value, "")
	line(strings.Repeat("-", names), strings.Repeat("-", values), "")
	for _, f := range list {
		name := printable(f.name)
		for _, part := range wrap(printable(f.value), room) {
			line(name, part, f.color)
			name = ""
		}
	}
	_, err := out.Out.Write(b.Bytes())
	return err
}

// wrap breaks a text at blanks into lines of at most width characters. Only a word
// that is longer has a longer line.
func wrap(text string, width int) []string {
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
