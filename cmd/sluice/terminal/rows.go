package terminal

import (
	"bytes"
	"io"
	"strings"
)

// The columns of rows.
const (
	Time = iota
	Host
	Level
	Rule
	Type
	Detail
	numColumns
)

var rowHeader = [numColumns]string{"TIME", "HOST", "LEVEL", "RULE", "TYPE", "DETAIL"}

// Widths of columns, in places on the terminal.
const (
	timeMost    = len("2006-01-02T15:04:05Z")
	hostMost    = 32
	hostLeast   = 8
	levelLeast  = len("critical")
	RuleMost    = 64
	ruleLeast   = 28 // a title is not told from others by less
	detailLeast = 24 // below it the others give way
	detailFew   = 16 // below it nothing can be told, and HOST and RULE need the room
	gap         = 2  // between two columns

)

// sparable are the columns that are left out where they leave the others too little,
// the least important first. With less room than that, LEVEL and RULE share it.
var sparable = [...]int{Type, Detail, Host, Time}

// Rows are results for a person who watches: a line each, written as it comes and
// never wider than the terminal.
type Rows struct {
	out   io.Writer
	width func() int // of the terminal: asked for each row, since people resize it
	color bool

	columns [numColumns]int // how wide they would like to be
	begun   bool            // the header is written
	buf     bytes.Buffer
}

// Row is a result, with a cell for each column and the colour of its level.
type Row struct {
	Cells []string
	Color string
}

// NewRows returns rows that are written to a terminal.
func NewRows(out io.Writer, width func() int, color bool) *Rows {
	r := &Rows{out: out, width: width, color: color}
	for i, name := range rowHeader {
		r.columns[i] = len(name)
	}
	return r
}

// Write writes rows below the header, which comes with the first of them. TIME and HOST
// grow with what they have to show.
func (r *Rows) Write(list []Row) error {
	if len(list) == 0 {
		return nil
	}
	for i := range list {
		r.Want(Time, list[i].Cells[Time], timeMost)
		r.Want(Host, list[i].Cells[Host], hostMost)
	}
	if !r.begun {
		r.begun = true
		r.line(rowHeader[:], "")
	}
	for i := range list {
		r.line(list[i].Cells, list[i].Color)
	}
	_, err := r.out.Write(r.buf.Bytes())
	r.buf.Reset()
	return err
}

// Want makes a column wide enough for a text, up to most.
func (r *Rows) Want(column int, text string, most int) {
	r.columns[column] = max(r.columns[column], min(Places(text), most))
}

// layout gives each column its width on a terminal, 0 to those that are left out:
// DETAIL has the room that the others leave. Which ones are left out does not depend on
// what events say, so that it changes with the terminal only.
func (r *Rows) layout(terminal int) (w [numColumns]int) {
	least := [numColumns]int{timeMost, hostLeast, levelLeast, ruleLeast, r.columns[Type], detailLeast}
	for _, i := range [...]int{Level, Rule} {
		least[i] = min(least[i], r.columns[i])
	}
	w, need := r.columns, -gap
	w[Detail] = detailLeast
	for _, n := range least {
		need += n + gap
	}
	for _, i := range sparable {
		if need <= terminal {
			break
		}
		if i == Type { // what is kept for DETAIL is only a wish
			need -= detailLeast - detailFew
			least[Detail] = detailFew
		}
		w[i] = 0
		need -= least[i] + gap
	}
	free := terminal + gap
	for _, n := range w {
		if n > 0 {
			free -= n + gap
		}
	}
	for _, i := range [...]int{Rule, Host, Level} { // they give way in this order
		if n := min(-free, w[i]-least[i]); n > 0 {
			w[i] -= n
			free += n
		}
	}
	switch {
	case w[Detail] > 0:
		w[Detail] += free
	default:
		w[Rule] = max(1, w[Rule]+free)
	}
	return w
}

func (r *Rows) line(cells []string, color string) {
	terminal := r.width()
	w := r.layout(terminal)
	column, end := 0, 0 // of this column, and of the text before it
	for i, cell := range cells {
		most := min(w[i], terminal-column)
		if most <= 0 {
			continue
		}
		r.buf.WriteString(strings.Repeat(" ", column-end))
		cell = Shorten(Printable(cell), most)
		end = column + Places(cell)
		column += w[i] + gap
		if color != "" && i == Level && r.color {
			cell = color + cell + "\x1b[0m"
		}
		r.buf.WriteString(cell)
	}
	trimBlanks(&r.buf)
	r.buf.WriteByte('\n')
}
