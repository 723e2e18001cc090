package sources

import "bytes"

// lines counts the lines of a stream for whoever tells people where something is.
type lines struct {
	before  int // line ends in front of chunk[counted]
	counted int
}

// CountLines has the reader say which lines texts begin on. It is called before the first
// read.
func (r *chunks) CountLines() { r.lines = new(lines) }

// lineAt is the number of the line that a place in the chunk is on, from 1; 0 when lines
// are not counted. Places only go forward.
func (r *chunks) lineAt(place int) int {
	l := r.lines
	if l == nil {
		return 0
	}
	if place > l.counted {
		l.before += bytes.Count(r.chunk[l.counted:place], []byte{'\n'})
		l.counted = place
	}
	return l.before + 1
}

// pass leaves the first bytes of the chunk behind; the rest becomes the next one.
func (r *chunks) pass(n int) {
	if r.lines != nil {
		r.lineAt(n)
		r.lines.counted -= n
	}
}
