package document

import (
	"bytes"
	"strings"
)

// The parser knows YAML 1.1. What differs in 1.2 is written in front of it so that it
// takes it, and read back behind it: single characters stand for what it would
// misread.
type dialect struct {
	text   []byte
	quoted *strings.Replacer // reads back inside double quotes; nil when nothing was written
	other  *strings.Replacer // and elsewhere
}

// modern is what the parser breaks lines at, and an escape that it does not know.
var modern = [...]string{"\u0085", "\u2028", "\u2029", `\/`}

// toldApart returns a file of YAML 1.2 as the parser takes it.
func toldApart(data []byte) dialect {
	d := dialect{text: withMarkers(data)}
	found := false
	for _, s := range modern {
		found = found || bytes.Contains(data, []byte(s))
	}
	if !found {
		return d
	}
	stand := unused(data, len(modern))
	if stand == nil {
		return d
	}
	var write, quoted, other []string
	for i, s := range modern {
		if s == `\/` {
			// A backslash that is escaped itself escapes nothing.
			write = append(write, `\\`, `\\`)
			quoted = append(quoted, stand[i], "/")
		} else {
			quoted = append(quoted, stand[i], s)
		}
		write = append(write, s, stand[i])
		other = append(other, stand[i], s)
	}
	d.text = []byte(strings.NewReplacer(write...).Replace(string(d.text)))
	d.quoted, d.other = strings.NewReplacer(quoted...), strings.NewReplacer(other...)
	return d
}

// back returns a text of the parser as it was written.
func (d *dialect) back(s string, quoted bool) string {
	switch {
	case d.quoted == nil:
		return s
	case quoted:
		return d.quoted.Replace(s)
	}
	return d.other.Replace(s)
}

// unused returns n characters for private use that the file does not use, nil when it
// uses all of them.
func unused(data []byte, n int) []string {
	const first, last = '\U000F0000', '\U000FFFFD'
	used := make(map[rune]bool)
	for _, r := range string(data) {
		if first <= r && r <= last {
			used[r] = true
		}
	}
	var out []string
	for r := first; r <= last; r++ {
		if !used[r] {
			if out = append(out, string(r)); len(out) == n {
				return out
			}
		}
	}
	return nil
}

// withMarkers writes a version that the parser knows, and a marker in front of a
// document that has none behind the end of another. Lines stay where they are.
func withMarkers(data []byte) []byte {
	out := data
	own := func() {
		if len(out) > 0 && &out[0] == &data[0] {
			out = bytes.Clone(data)
		}
	}
	between, end := true, -1 // whether no document has begun, and where the last one ended
	for at := 0; at < len(data); {
		next := len(data)
		if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
			next = at + n + 1
		}
		line := bytes.TrimRight(data[at:next], " \t\r\n")
		switch {
		case !between:
			if isMarker(line, "...") {
				between, end = true, at
			}
		case len(line) == 0 || bytes.TrimLeft(line, " \t")[0] == '#':
		case line[0] == '%':
			if version := versionIn(line); version >= 0 {
				own()
				for i := at + version; i < at+len(line) && '0' <= data[i] && data[i] <= '9'; i++ {
					out[i] = ' '
				}
				out[at+version] = '1'
			}
			end = -1
		default:
			if between = isMarker(line, "..."); between {
				end = at
			} else if end >= 0 && !isMarker(line, "---") {
				own()
				copy(out[end:], "---")
			}
		}
		at = next
	}
	return out
}

func isMarker(line []byte, marker string) bool {
	return bytes.HasPrefix(line, []byte(marker)) && (len(line) == len(marker) || line[len(marker)] == ' ' || line[len(marker)] == '\t')
}

// versionIn returns where the minor version stands in a directive of YAML 1, -1 for
// none.
func versionIn(line []byte) int {
	rest, ok := bytes.CutPrefix(line, []byte("%YAML"))
	number := bytes.TrimLeft(rest, " \t")
	if !ok || len(number) == len(rest) || !bytes.HasPrefix(number, []byte("1.")) || len(number) == len("1.") || number[2] < '0' || number[2] > '9' {
		return -1
	}
	return len(line) - len(number) + len("1.")
}

// lineOfControl returns the line of the first character that YAML does not allow.
func lineOfControl(data []byte) int {
	i := bytes.IndexFunc(data, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || 0x7F <= r && r < 0xA0 && r != 0x85 || r == 0xFEFF || r == 0xFFFE || r == 0xFFFF
	})
	if i < 0 {
		return 0
	}
	return 1 + bytes.Count(data[:i], []byte("\n"))
}
