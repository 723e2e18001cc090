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
	hostLeast   = 8
	levelLeast  = len("critical")
	ruleMost    = 64
	ruleLeast   = 28 // a title is not told from others by less
	detailLeast = 24 // below it the others give way
	detailFew   = 8  // below it nothing can be told
	gap         = 2  // between two columns

	unknownWidth = 80 // of a terminal that does not tell
)

// sparable are the columns that are left out where they leave the others too little,
// the least important first. With less room than that, LEVEL and RULE share it.
var sparable = [...]int{rowType, rowDetail, rowHost, rowTime}

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

// layout gives each column its width on a terminal, 0 to those that are left out:
// DETAIL has the room that the others leave. Which ones are left out does not depend on
// what events say, so that it changes with the terminal only.
func (r *rows) layout(terminal int) (w [rowColumns]int) {
	least := [rowColumns]int{timeMost, hostLeast, levelLeast, ruleLeast, r.columns[rowType], detailLeast}
	for _, i := range [...]int{rowLevel, rowRule} {
		least[i] = min(least[i], r.columns[i])
	}
	w, need := r.columns, -gap
	w[rowDetail] = detailLeast
	for _, n := range least {
		need += n + gap
	}
	for _, i := range sparable {
		if need <= terminal {
			break
		}
		if i == rowType { // what is kept for DETAIL is only a wish
			need -= detailLeast - detailFew
			least[rowDetail] = detailFew
		}
		w[i] = 0
		need -= least[i] + gap
	}
	room := terminal + gap
	for _, n := range w {
		if n > 0 {
			room -= n + gap
		}
	}
	for _, i := range [...]int{rowRule, rowHost, rowLevel} { // they give way in this order
		if n := min(-room, w[i]-least[i]); n > 0 {
			w[i] -= n
			room += n
		}
	}
	switch {
	case w[rowDetail] > 0:
		w[rowDetail] += room
	default:
		w[rowRule] = max(1, w[rowRule]+room)
	}
	return w
}

func (r *rows) line(cells []string, color string) {
	terminal := r.width()
	w := r.layout(terminal)
	column, end := 0, 0 // of this column, and of the text before it
	for i, cell := range cells {
		most := min(w[i], terminal-column)
		if most <= 0 {
			continue
		}
		r.buf.WriteString(strings.Repeat(" ", column-end))
		cell = shorten(printable(cell), most)
		end = column + places(cell)
		column += w[i] + gap
		if color != "" && i == rowLevel && r.color {
			cell = color + cell + "\x1b[0m"
		}
		r.buf.WriteString(cell)
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
