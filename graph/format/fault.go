package format

import "bytes"

// Fault is what keeps a line from being JSON. It says nothing of the line's text.
type Fault struct {
	Offset int    // in bytes; the length of the line when it ends too early
	Kind   string // of the fault
}

// Unfinished reports whether the line ends inside a value, as one of several that a value
// stands on does.
func (f Fault) Unfinished() bool { return f.Kind == unfinished }

// The kinds of faults.
const (
	unfinished    = "line ends inside a value"
	notAValue     = "not a JSON value"
	noKey         = "key in double quotes expected"
	noColon       = "colon expected"
	noComma       = "comma or closing bracket expected"
	badEscape     = "invalid escape in a string"
	control       = "control character in a string"
	notSeparate   = "values without white space between them"
	notAContainer = "value is neither an object nor an array"
	tooDeep       = "nested deeper than 128"
)

// maxDepth is how many containers within each other a line may have.
const maxDepth = 128

// FindFault returns the first fault of a line that does not decode as one or more JSON
// values; with containers each of them an object or an array. ok is false when it
// decodes.
func FindFault(line []byte, containers bool) (f Fault, ok bool) {
	c := checker{line: line}
	for c.space(); ; c.space() {
		from := c.at
		if containers && from < len(line) && line[from] != '{' && line[from] != '[' {
			c.fail(from, notAContainer)
		}
		if c.value(); c.kind == "" && c.at < len(line) && bare(line[c.at-1]) && bare(line[c.at]) {
			c.fail(c.at, notSeparate)
		}
		if c.kind != "" {
			return Fault{c.at, c.kind}, true
		}
		if c.space(); c.at == len(line) {
			return Fault{}, false
		}
	}
}

// bare reports whether a character needs to be separated from another bare one.
func bare(c byte) bool { return bytes.IndexByte([]byte(" \t\r\n\"{}[]"), c) < 0 }

// checker reads a line up to its first fault.
type checker struct {
	line []byte
	at   int    // behind what was read, or of the fault
	kind string // of the fault
	open []byte // brackets
}

func (c *checker) fail(at int, kind string) {
	if c.kind == "" {
		c.at, c.kind = at, kind
		if at >= len(c.line) {
			c.at, c.kind = len(c.line), unfinished
		}
	}
}

func (c *checker) space() {
	for c.kind == "" && c.at < len(c.line) && bytes.IndexByte([]byte(" \t\r\n"), c.line[c.at]) >= 0 {
		c.at++
	}
}

// is takes one character, with white space before it, if it is next.
func (c *checker) is(b byte) bool {
	c.space()
	if c.kind != "" || c.at == len(c.line) || c.line[c.at] != b {
		return false
	}
	c.at++
	return true
}

// value reads one value. Containers wait in c.open, so that depth costs no stack.
func (c *checker) value() {
	for base := len(c.open); c.kind == ""; {
		c.space()
		switch {
		case c.is('{'):
			if c.push('{'); !c.is('}') {
				c.key()
				continue
			}
			c.pop()
		case c.is('['):
			if c.push('['); !c.is(']') {
				continue
			}
			c.pop()
		default:
			c.scalar()
		}
		for c.kind == "" && len(c.open) > base { // behind a value in a container
			last := c.open[len(c.open)-1]
			if c.is(',') {
				if last == '{' {
					c.key()
				}
				break
			}
			if !c.is(last + 2) {
				c.fail(c.at, noComma)
			}
			c.pop()
		}
		if len(c.open) == base {
			return
		}
	}
}

func (c *checker) push(bracket byte) {
	if c.open = append(c.open, bracket); len(c.open) > maxDepth {
		c.fail(c.at-1, tooDeep)
	}
}

func (c *checker) pop() { c.open = c.open[:len(c.open)-1] }

// key reads a key and its colon.
func (c *checker) key() {
	if !c.is('"') {
		c.fail(c.at, noKey)
		return
	}
	if c.text(); !c.is(':') {
		c.fail(c.at, noColon)
	}
}

func (c *checker) scalar() {
	if c.is('"') {
		c.text()
		return
	}
	rest := c.line[c.at:]
	for _, literal := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(rest, []byte(literal)) {
			c.at += len(literal)
			return
		}
	}
	if n := numberLength(rest); n > 0 {
		c.at += n
		return
	}
	c.fail(c.at, notAValue)
}

// numberLength is the length of the number that b begins with, or 0.
func numberLength(b []byte) int {
	digits := func(i int) int {
		for i < len(b) && '0' <= b[i] && b[i] <= '9' {
			i++
		}
		return i
	}
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	from := i
	if i = digits(i); i == from || b[from] == '0' && i > from+1 {
		if i > from {
			return from + 1 // nothing goes on behind a zero
		}
		return 0
	}
	if i < len(b) && b[i] == '.' {
		if from = i + 1; digits(from) == from {
			return 0
		}
		i = digits(from)
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		from = i + 1
		if from < len(b) && (b[from] == '+' || b[from] == '-') {
			from++
		}
		if digits(from) == from {
			return 0
		}
		i = digits(from)
	}
	return i
}

// text reads the rest of a string.
func (c *checker) text() {
	for c.kind == "" {
		i := bytes.IndexFunc(c.line[c.at:], func(r rune) bool { return r == '"' || r == '\\' || r < ' ' })
		if i < 0 {
			c.fail(len(c.line), unfinished)
			return
		}
		c.at += i
		switch rest := c.line[c.at:]; {
		case rest[0] == '"':
			c.at++
			return
		case rest[0] != '\\':
			c.fail(c.at, control)
		case len(rest) > 1 && bytes.IndexByte([]byte(`"\/bfnrt`), rest[1]) >= 0:
			c.at += 2
		case len(rest) > 1 && rest[1] != 'u', len(rest) >= 6 && !hexadecimal(rest[2:6]):
			c.fail(c.at, badEscape)
		case len(rest) < 6:
			c.fail(len(c.line), unfinished)
		default:
			c.at += 6
		}
	}
}

func hexadecimal(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}
