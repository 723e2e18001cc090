package command

import (
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sources"
)

// spot is where a text of the events begins.
type spot struct {
	in     string // file, stdin or flag
	line   int
	record bool // of a file of the event log
}

// fault is the first text that could not be read as it was meant.
type fault struct {
	spot
	what       string // empty without a fault
	unfinished bool   // it is a line of a value on several
}

// tooLong is what is wrong with a line that is skipped unread.
var tooLong = fmt.Sprintf("longer than %d bytes", sources.MaxLine)

// findFault remembers the first fault of a batch, unless there was one before.
func (e *evaluation) findFault(j *job) {
	t := &e.total
	switch {
	case t.first.what != "" || j.oversize == 0 && j.decoded.Undecodable == 0 && (j.decoded.Suspects == 0 || e.format.Format != format.Auto):
		return
	case j.oversize > 0:
		t.first = fault{spot: j.placeOf(0), what: tooLong}
		return
	}
	for i := range j.batch.Lines {
		line := &j.batch.Lines[i]
		unread := j.batch.Outcomes[i].Kind == graph.Undecodable
		f, found := format.FindFault(line.Raw, !unread)
		switch {
		case unread && (!found || !line.Structured && !e.format.Format.Values()):
			t.first = fault{spot: j.placeOf(i), what: "not " + e.format.Format.String()}
			return
		case unread, found && looksLikeJSON(line.Raw) && e.format.Format == format.Auto:
			t.first = fault{j.placeOf(i), fmt.Sprintf("not JSON at byte %d: %s", f.Offset, f.Kind), f.Unfinished()}
			return
		}
	}
}

// looksLikeJSON reports whether a line begins like an object or an array.
func looksLikeJSON(line []byte) bool {
	i := slices.IndexFunc(line, func(c byte) bool { return c != ' ' && c != '\t' && c != '\r' })
	return i >= 0 && (line[i] == '{' || line[i] == '[')
}

// placeOf is where line i of the batch begins, if that is known.
func (j *job) placeOf(i int) spot {
	if i < len(j.places) {
		return j.places[i]
	}
	return spot{}
}

// tellFault prints where the first fault is and what it is.
func (t *tally) tellFault(out *console) {
	if t.first.what == "" {
		return
	}
	more := ""
	n := t.undecoded
	if t.format == format.Auto {
		n += t.suspects
	}
	if n > 1 {
		more = fmt.Sprintf(" (and %d more)", n-1)
	}
	where := ""
	if t.first.line > 0 {
		where = fmt.Sprintf("%s:%d: ", t.first.in, t.first.line)
	}
	out.note("%s%s%s", where, t.first.what, more)
}
