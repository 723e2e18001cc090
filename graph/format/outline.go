package format

import "strings"

// outlined is how much of a line its outline shows.
const outlined = 48

// Outline is the beginning of a line as a log may show it: one sees what kind of line it
// is, and not what it says. Letters are a, digits are 9, whatever is not ASCII is "?", and
// a dot stands for a control character.
func Outline(line []byte) string {
	var b strings.Builder
	for i, c := range line {
		if i == outlined {
			b.WriteString("...")
			break
		}
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			c = 'a'
		case c >= '0' && c <= '9':
			c = '9'
		case c >= 0x80:
			c = '?'
		case c < ' ' || c == 0x7f:
			c = '.'
		}
		b.WriteByte(c)
	}
	return b.String()
}
