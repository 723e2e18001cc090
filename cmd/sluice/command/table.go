package command

import (
	"bytes"
	"encoding/csv"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// writeTable writes all rows in the chosen tabular format.
func (c *console) writeTable(header []string, rows [][]string) error {
	t := newTable(c, header)
	for _, r := range rows {
		if err := t.row(r, ""); err != nil {
			return err
		}
	}
	return t.flush()
}

// sampleRows is how many rows a table sees before it settles its widths.
const sampleRows = 500

// table writes rows as they come. The text form holds back the first rows to
// find out how wide its columns are; later rows may stick out.
type table struct {
	out    io.Writer
	format string
	color  bool
	header []string
	held   [][]string
	paint  []string // colour of each held row's first column
	width  []int    // nil until settled
	right  []bool
	most   int // width of the terminal, where the last column is cut; 0 for any
	buf    bytes.Buffer
}

func newTable(c *console, header []string) *table {
	return &table{out: c.Out, format: c.format, color: c.color, header: header}
}

// row adds a row, whose first column gets the colour.
func (t *table) row(cells []string, color string) error {
	if t.format != formatTable {
		if t.header != nil {
			t.separated(t.header)
			t.header = nil
		}
		return t.emit(func() { t.separated(cells) })
	}
	if t.width != nil {
		return t.emit(func() { t.aligned(cells, color) })
	}
	t.held, t.paint = append(t.held, cells), append(t.paint, color)
	if len(t.held) < sampleRows {
		return nil
	}
	return t.settle()
}

// flush writes what is held back; a table without rows is still a header.
func (t *table) flush() error {
	if t.format != formatTable {
		if t.header == nil {
			return nil
		}
		return t.emit(func() { t.separated(t.header) })
	}
	if t.width != nil {
		return nil
	}
	return t.settle()
}

func (t *table) emit(write func()) error {
	write()
	_, err := t.out.Write(t.buf.Bytes())
	t.buf.Reset()
	return err
}

func (t *table) settle() error {
	t.width, t.right = make([]int, len(t.header)), make([]bool, len(t.header))
	for i, h := range t.header {
		t.width[i] = utf8.RuneCountInString(h)
		t.right[i] = len(t.held) > 0
		for _, r := range t.held {
			t.width[i] = max(t.width[i], utf8.RuneCountInString(printable(r[i])))
			t.right[i] = t.right[i] && isInteger(r[i])
		}
	}
	if last := len(t.width) - 1; t.most > 0 {
		t.width[last] = min(t.width[last], t.room())
	}
	return t.emit(func() {
		t.aligned(t.header, "")
		dashes := make([]string, len(t.header))
		for i, w := range t.width {
			dashes[i] = strings.Repeat("-", w)
		}
		t.aligned(dashes, "")
		for i, r := range t.held {
			t.aligned(r, t.paint[i])
		}
		t.held, t.paint = nil, nil
	})
}

// room is what the other columns leave the last one on the terminal.
func (t *table) room() int {
	n := t.most
	for _, w := range t.width[:len(t.width)-1] {
		n -= w + gap
	}
	return max(0, n)
}

func (t *table) aligned(cells []string, color string) {
	for i, cell := range cells {
		cell = printable(cell)
		if t.most > 0 && i == len(cells)-1 {
			cell = shorten(cell, t.room())
		}
		pad := strings.Repeat(" ", max(0, t.width[i]-utf8.RuneCountInString(cell)))
		if i > 0 {
			t.buf.WriteString("  ")
		}
		if t.right[i] {
			t.buf.WriteString(pad)
		}
		if color != "" && i == 0 && t.color {
			t.buf.WriteString(color + cell + "\x1b[0m")
		} else {
			t.buf.WriteString(cell)
		}
		if !t.right[i] && i < len(cells)-1 {
			t.buf.WriteString(pad)
		}
	}
	trimBlanks(&t.buf)
	t.buf.WriteByte('\n')
}

// trimBlanks removes blanks at the end.
func trimBlanks(buf *bytes.Buffer) {
	buf.Truncate(len(bytes.TrimRight(buf.Bytes(), " ")))
}

// separated writes one CSV or TSV record, quoted as RFC 4180 says.
func (t *table) separated(cells []string) {
	w := csv.NewWriter(&t.buf)
	if t.format == formatTSV {
		w.Comma = '\t'
	}
	_ = w.Write(cells) // a buffer takes everything
	w.Flush()
}

// printable keeps what an event says from steering the terminal.
func printable(s string) string {
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

func isInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}
