package frame

// maxTyped is how deep into a value the kinds of brackets are told apart. No event is
// nested as deep.
const maxTyped = 256

// mode is what a Scanner is in the middle of.
type mode uint8

const (
	between mode = iota // values
	text                // a string that is a value
	bare                // a value that is neither a string nor in brackets
	nested              // a value in brackets
	quoted              // a string within it
)

// Scanner finds the values of a stream. White space and commas lie between them, and
// a top-level array stands for its elements. A bracket closes the next one of its kind
// that is open, so that a value with a missing bracket ends where its container does;
// one that closes nothing is a value of its own.
//
// The zero value is at the beginning of a stream.
type Scanner struct {
	Whole bool // a top-level array is a value like others

	mode    mode
	array   bool // a top-level array is open
	escaped bool // the string goes on behind a backslash
	broken  bool // there is a line break in the value
	depth   int  // brackets of the value that are open
	objects int  // of the outermost maxTyped, those of objects
	open    [maxTyped]byte
}

// Open reports whether the end of a value has not been seen yet.
func (s *Scanner) Open() bool { return s.mode != between }

// Unclosed reports whether a top-level array has begun whose end has not been seen.
func (s *Scanner) Unclosed() bool { return s.array }

// Broken reports whether there may be a line break in the value at hand, or in the last
// one.
func (s *Scanner) Broken() bool { return s.broken }

// Skip returns how many bytes of b lie before the next value, all of them if it does
// not begin in b. It is called between values.
func (s *Scanner) Skip(b []byte) int {
	for i, c := range b {
		switch {
		case c == ' ' || c == ',' || c == '\n' || c == '\r' || c == '\t':
		case c == '[' && !s.array && !s.Whole:
			s.array = true
		case c == ']' && s.array:
			s.array = false
		default:
			return i
		}
	}
	return len(b)
}

// Take returns how many bytes of b belong to the value that begins with b, or goes on
// with it, and whether it ends there. White space may be at the end of one in an array
// that is neither a string nor in brackets.
func (s *Scanner) Take(b []byte) (n int, whole bool) {
	if len(b) == 0 {
		return 0, false
	}
	i := 0
	if s.mode == between {
		i, s.broken = 1, false
		switch c := b[0]; c {
		case '{', '[':
			s.mode = nested
			s.push(c)
		case '"':
			s.mode = text
		case '}', ']':
			return 1, true
		default:
			s.mode = bare
		}
	}
	switch s.mode {
	case bare:
		return s.bare(b, i)
	case text, quoted:
		if i = s.closeString(b, i); i > len(b) {
			return len(b), false
		}
		if s.mode == text {
			s.mode = between
			return i, true
		}
		s.mode = nested
	}
	for i < len(b) {
		c := b[i]
		i++
		if !structural[c] {
			continue
		}
		switch c {
		case '"':
			if i = s.closeString(b, i); i > len(b) {
				s.mode = quoted
				return len(b), false
			}
		case '{', '[':
			s.push(c)
		case '\n', '\r':
			s.broken = true
		default:
			closed := s.pop(c)
			switch {
			case closed && s.depth == 0:
				s.mode = between
				return i, true
			case !closed && c == ']' && s.array: // the array around the value
				s.mode, s.depth, s.objects = between, 0, 0
				return i - 1, true
			}
		}
	}
	return len(b), false
}

// structural are the characters that matter in brackets.
var structural = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true, '\n': true, '\r': true}

// push opens a bracket.
func (s *Scanner) push(c byte) {
	if s.depth < maxTyped {
		s.open[s.depth] = c
		if c == '{' {
			s.objects++
		}
	}
	s.depth++
}

// pop closes a bracket and those within it that are still open. It reports whether there
// was one to close.
func (s *Scanner) pop(c byte) bool {
	if s.depth > maxTyped {
		s.depth--
		return true
	}
	c -= 2 // the opening one
	if c == '{' && s.objects == 0 || c == '[' && s.objects == s.depth {
		return false
	}
	for {
		s.depth--
		if s.open[s.depth] == '{' {
			s.objects--
		}
		if s.open[s.depth] == c {
			return true
		}
	}
}

// bare goes on with a value that is neither a string nor in brackets.
func (s *Scanner) bare(b []byte, i int) (n int, whole bool) {
	for ; i < len(b); i++ {
		switch b[i] {
		case ' ', '\n', '\r', '\t':
			if s.array {
				s.broken = s.broken || b[i] < ' '
				continue
			}
		case ',', '"', '{', '[', '}', ']':
		default:
			continue
		}
		s.mode = between
		return i, true
	}
	return len(b), false
}
