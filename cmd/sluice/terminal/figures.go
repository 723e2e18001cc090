package terminal

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Figure is a named value that people look at.
type Figure struct{ Name, Value, Color string }

// WriteFigures writes a table of figures for a terminal. Values that are too long
// for it go on below, in their column.
func WriteFigures(out io.Writer, columns int, color bool, list []Figure) error {
	header := Figure{Name: "METRIC", Value: "VALUE"}
	names, values := len(header.Name), len(header.Value)
	for _, f := range list {
		names = max(names, utf8.RuneCountInString(Printable(f.Name)))
		values = max(values, utf8.RuneCountInString(Printable(f.Value)))
	}
	const between = 2
	free := max(20, columns-names-between)
	values = min(values, free)
	var b bytes.Buffer
	line := func(name, value, paint string) {
		text := name + strings.Repeat(" ", names+between-utf8.RuneCountInString(name)) + value
		if paint != "" && color {
			text = paint + text + "\x1b[0m"
		}
		b.WriteString(text + "\n")
	}
	line(header.Name, header.Value, "")
	line(strings.Repeat("-", names), strings.Repeat("-", values), "")
	for _, f := range list {
		name := Printable(f.Name)
		for _, part := range Wrap(Printable(f.Value), free) {
			line(name, part, f.Color)
			name = ""
		}
	}
	_, err := out.Write(b.Bytes())
	return err
}
