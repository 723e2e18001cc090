package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// The columns of rows.
const (
	rowTime = iota
	rowHost
	rowLevel
	rowRule
	rowType
	rowDetail
	rowColumns
)

var rowHeader = [rowColumns]string{"TIME", "HOST", "LEVEL", "RULE", "TYPE", "DETAIL"}

// Widths of columns, in places on the terminal.
const (
	timeMost    = len("2006-01-02T15:04:05Z")
	hostMost    = 32
	ruleMost    = 64
	detailLeast = 24 // below it RULE gives way, then HOST
	ruleLeast   = 12
	hostLeast   = 8
	gap         = 2 // between two columns

	unknownWidth = 80 // of a terminal that does not tell
)

// rows are results for a person who watches: a line each, written as it comes and
// never wider than the terminal.
type rows struct {
	out     io.Writer
	width   func() int // of the terminal: asked for each row, since people resize it
	color   bool
	origins origins
	words   keywords

	columns [rowColumns]int // how wide they would like to be
	begun   bool            // the header is written
	buf     bytes.Buffer
}

func newRows(c *console) *rows {
	r := &rows{out: c.Out, width: c.columns, color: c.color}
	for i, name := range rowHeader {
		r.columns[i] = len(name)
	}
	return r
}

// widthOf tells how wide a terminal is.
func widthOf(f *os.File) func() int {
	return func() int {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
		return unknownWidth
	}
}

// write writes rows below the header, which comes with the first of them. TIME and HOST
// grow with what they have to show.
func (r *rows) write(list []row) error {
	if len(list) == 0 {
		return nil
	}
	for i := range list {
		r.want(rowTime, list[i].cells[rowTime], timeMost)
		r.want(rowHost, list[i].cells[rowHost], hostMost)
	}
	if !r.begun {
		r.begun = true
		r.line(rowHeader[:], "")
	}
	for i := range list {
		r.line(list[i].cells, list[i].color)
	}
	_, err := r.out.Write(r.buf.Bytes())
	r.buf.Reset()
	if err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// want makes a column wide enough for a text, up to most.
func (r *rows) want(column int, text string, most int) {
	r.columns[column] = max(r.columns[column], min(places(text), most))
}

// layout gives each column its width on a terminal: DETAIL has the room that the others
// leave.
func (r *rows) layout(terminal int) [rowColumns]int {
	w := r.columns
	w[rowDetail] = terminal
	for _, n := range w[:rowDetail] {
		w[rowDetail] -= n + gap
	}
	for _, c := range [...]struct{ column, least int }{{rowRule, ruleLeast}, {rowHost, hostLeast}} {
		n := min(detailLeast-w[rowDetail], w[c.column]-c.least)
		if n > 0 {
			w[c.column] -= n
			w[rowDetail] += n
		}
	}
	return w
}

func (r *rows) line(cells []string, color string) {
	left := r.width()
	w := r.layout(left)
	for i, cell := range cells {
		if i > 0 {
			left -= gap
		}
		if left <= 0 {
			break
		}
		if i > 0 {
			r.buf.WriteString(strings.Repeat(" ", gap))
		}
		cell = shorten(printable(cell), min(max(w[i], 0), left))
		n := places(cell)
		if color != "" && i == rowLevel && r.color {
			cell = color + cell + "\x1b[0m"
		}
		r.buf.WriteString(cell)
		if i < rowDetail {
			pad := max(0, min(w[i], left)-n)
			r.buf.WriteString(strings.Repeat(" ", pad))
			n += pad
		}
		left -= n
	}
	trimBlanks(&r.buf)
	r.buf.WriteByte('\n')
}

// places is how many places a text takes on a terminal.
func places(s string) int {
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

// shorten cuts a text to a width; three dots stand for what is missing.
func shorten(s string, most int) string {
	const dots = "..."
	if len(s) <= most || places(s) <= most {
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
