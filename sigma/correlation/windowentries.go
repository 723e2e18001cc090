package correlation

import (
	"bytes"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
	"github.com/sluicehq/sluice/sigma/event"
)

// WindowEntries are the entries of a group's window, as JSON. Seconds of counts and
// hits stand once; how many entries each has stands beside them, unless
// each has one.
type WindowEntries struct {
	c      *program.Correlation
	window window.Window
}

// Len returns the number of entries.
func (s *WindowEntries) Len() int { return s.window.Len() }

// MarshalJSON makes all of it at once.
func (s *WindowEntries) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	_, err := s.WriteTo(&b)
	return b.Bytes(), err
}

// WriteTo writes the JSON in pieces, as out takes them: of a long window no more than
// a piece is made at a time.
func (s *WindowEntries) WriteTo(out io.Writer) (int64, error) {
	p := pieces{out: out}
	switch w := s.window.(type) {
	case *window.Counts:
		p.text(`{"EventCount":{"timestamps":`)
		p.seconds(w)
		if repeats(w) {
			p.text(`,"counts":`)
			p.counts(w)
		}
	case *window.Distinct:
		p.text(`{"ValueCount":{"entries":`)
		p.list(func(yield func([]byte) bool) {
			for ts, text := range w.All() {
				if !yield(append(event.AppendQuoted(p.pair(ts), s.spell(text)), ']')) {
					return
				}
			}
		})
	case *window.Numbers:
		p.text(`{"NumericAgg":{"entries":`)
		p.list(func(yield func([]byte) bool) {
			for ts, v := range w.All() {
				if !yield(append(AppendNumber(p.pair(ts), v), ']')) {
					return
				}
			}
		})
	case *window.Hits:
		p.text(`{"Temporal":{"rule_hits":`)
		some := func(c *window.Counts) bool { return c.Len() > 0 }
		p.members(s.c, w, some, p.seconds)
		for i := range w.Members() {
			if repeats(w.Member(i)) {
				p.text(`,"counts":`)
				p.members(s.c, w, repeats, p.counts)
				break
			}
		}
	}
	p.text("}}")
	p.flush()
	return p.n, p.err
}

// spell returns a counted text as it is shown: a tuple with U+001F between its parts.
func (s *WindowEntries) spell(text string) string {
	if len(s.c.Source.Condition.Fields) < 2 {
		return match.Counted(text)
	}
	var parts []string
	for part := range match.Parts(text) {
		parts = append(parts, part)
	}
	return strings.Join(parts, "\x1f")
}

// seconds yields the seconds of w and how many entries each has.
func seconds(w *window.Counts) iter.Seq2[int64, int] {
	return func(yield func(int64, int) bool) {
		at, count := int64(0), 0
		for ts, n := range w.All() {
			if count > 0 && ts != at {
				if !yield(at, count) {
					return
				}
				count = 0
			}
			at, count = ts, count+n // an entry may be kept apart from others of its second
		}
		if count > 0 {
			yield(at, count)
		}
	}
}

// repeats reports whether a second of w has several entries.
func repeats(w *window.Counts) bool {
	for _, n := range seconds(w) {
		if n > 1 {
			return true
		}
	}
	return false
}

// pieceSize is how much JSON is made before it is written.
const pieceSize = 32 << 10

// pieces writes JSON piece by piece. After an error nothing is made any more.
type pieces struct {
	out   io.Writer
	buf   []byte
	entry []byte
	n     int64
	err   error
}

func (p *pieces) text(s string) { p.buf = append(p.buf, s...) }

func (p *pieces) flush() {
	if p.err == nil {
		var n int
		n, p.err = p.out.Write(p.buf)
		p.n += int64(n)
	}
	p.buf = p.buf[:0]
}

// list writes an array.
func (p *pieces) list(entries iter.Seq[[]byte]) {
	separator := byte('[')
	for e := range entries {
		p.buf = append(append(p.buf, separator), e...)
		separator = ','
		if len(p.buf) >= pieceSize {
			if p.flush(); p.err != nil {
				return
			}
		}
	}
	if separator == '[' {
		p.text("[")
	}
	p.text("]")
}

// pair begins an entry that has a second and something else.
func (p *pieces) pair(ts int64) []byte {
	p.entry = append(strconv.AppendInt(append(p.entry[:0], '['), ts, 10), ',')
	return p.entry
}

func (p *pieces) seconds(w *window.Counts) {
	p.list(func(yield func([]byte) bool) {
		for ts := range seconds(w) {
			if p.entry = strconv.AppendInt(p.entry[:0], ts, 10); !yield(p.entry) {
				return
			}
		}
	})
}

func (p *pieces) counts(w *window.Counts) {
	p.list(func(yield func([]byte) bool) {
		for _, n := range seconds(w) {
			if p.entry = strconv.AppendInt(p.entry[:0], int64(n), 10); !yield(p.entry) {
				return
			}
		}
	})
}

// members writes an object with what show writes of every member that is wanted, by
// its reference as written.
func (p *pieces) members(c *program.Correlation, w *window.Hits, wanted func(*window.Counts) bool, show func(*window.Counts)) {
	separator := "{"
	for i, m := range c.Source.Members {
		if !wanted(w.Member(i)) {
			continue
		}
		p.text(separator)
		p.buf = append(event.AppendQuoted(p.buf, m.Name), ':')
		show(w.Member(i))
		separator = ","
	}
	if separator == "{" {
		p.text("{")
	}
	p.text("}")
}
