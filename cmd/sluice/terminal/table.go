package terminal

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// sampleRows is how many rows a table sees before it settles its widths.
const sampleRows = 500

// Table writes rows as they come. The text form holds back the first rows to
// find out how wide its columns are; later rows may stick out.
type Table struct {
	out    io.Writer
	comma  rune // between the cells of a record; 0 aligns them in columns
	color  bool
	clean  bool // cells of records, too, as those of columns always are
	header []string
	held   [][]string
	paint  []string // colour of each held row's first column
	width  []int    // nil until settled
	right  []bool
	most   int // width of the terminal, where the last column is cut; 0 for any
	buf    bytes.Buffer
}

// NewTable returns a table with aligned columns, or of records with a separator.
func NewTable(out io.Writer, comma rune, color bool, header []string) *Table {
	return &Table{out: out, comma: comma, color: color, header: header}
}

// Fit cuts the last column so that rows are no wider than so many columns; 0 cuts nothing.
func (t *Table) Fit(columns int) { t.most = columns }

// Clean keeps characters out of records that steer a terminal.
func (t *Table) Clean() { t.clean = true }

// Row adds a row, whose first column gets the colour.
func (t *Table) Row(cells []string, color string) error {
	if t.comma != 0 {
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

// Flush writes what is held back; a table without rows is still a header.
func (t *Table) Flush() error {
	if t.comma != 0 {
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

func (t *Table) emit(write func()) error {
	write()
	_, err := t.out.Write(t.buf.Bytes())
	t.buf.Reset()
	return err
}

func (t *Table) settle() error {
	t.width, t.right = make([]int, len(t.header)), make([]bool, len(t.header))
	for i, h := range t.header {
		t.width[i] = utf8.RuneCountInString(h)
		t.right[i] = len(t.held) > 0
		for _, r := range t.held {
			t.width[i] = max(t.width[i], utf8.RuneCountInString(Printable(r[i])))
			t.right[i] = t.right[i] && isInteger(r[i])
		}
	}
	if last := len(t.width) - 1; t.most > 0 {
		t.width[last] = min(t.width[last], t.free())
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

// free is what the other columns leave the last one on the terminal.
func (t *Table) free() int {
	n := t.most
	for _, w := range t.width[:len(t.width)-1] {
		n -= w + gap
	}
	return max(0, n)
}

func (t *Table) aligned(cells []string, color string) {
	for i, cell := range cells {
		cell = Printable(cell)
		if t.most > 0 && i == len(cells)-1 {
			cell = Shorten(cell, t.free())
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

// separated writes one CSV or TSV record, quoted as RFC 4180 says.
func (t *Table) separated(cells []string) {
	if t.clean {
		cells = slices.Clone(cells)
		for i := range cells {
			cells[i] = Printable(cells[i])
		}
	}
	w := csv.NewWriter(&t.buf)
	w.Comma = t.comma
	_ = w.Write(cells) // a buffer takes everything
	w.Flush()
}

func isInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}
