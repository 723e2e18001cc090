package document

import "strings"

// maxKey is well below the longest key on one line that YAML allows.
const maxKey = 512

// key takes the key off the current line. Rest is what follows the colon. It is
// false when the line does not begin with a key.
func (r *blockReader) key() (key *Node, rest string, ok bool) {
	text, kind, rest, ok := r.keyText()
	if !ok || len(text) > maxKey || kind == Null || text == "<<" {
		return nil, "", false
	}
	key = r.node(kind, text, r.number)
	if kind != String { // so it stands without quotes in front of the colon
		key.spell(strings.TrimRight(r.content[:len(r.content)-len(rest)-1], " "))
	}
	return key, rest[indentOf(rest):], true
}

func (r *blockReader) isKey() bool {
	_, _, _, ok := r.keyText()
	return ok
}

func (r *blockReader) keyText() (text string, kind Kind, rest string, ok bool) {
	s := r.content
	if s[0] == '"' || s[0] == '\'' {
		text, rest, ok = quoted(s)
		rest = rest[indentOf(rest):]
		if !ok || !strings.HasPrefix(rest, ":") || len(rest) > 1 && rest[1] != ' ' {
			return "", 0, "", false
		}
		return text, String, rest[1:], true
	}
	if !beginsPlain(s) {
		return "", 0, "", false
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == ':' && (i+1 == len(s) || s[i+1] == ' '):
			kind, text = resolve(strings.TrimRight(s[:i], " "))
			return text, kind, s[i+1:], true
		case s[i] == '#' && s[i-1] == ' ':
			return "", 0, "", false
		}
	}
	return "", 0, "", false
}

// beginsPlain reports whether a plain scalar may begin so. Some that may are
// left to the parser.
func beginsPlain(s string) bool {
	switch s[0] {
	case '-', '?', ':':
		return s[0] == '-' && len(s) > 1 && s[1] != ' '
	case ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', ' ':
		return false
	}
	return true
}

// inline reads a value that begins on the current line, inside a block of some
// indentation, and goes to the line behind it.
func (r *blockReader) inline(s string, indent int) *Node {
	line := r.number
	var n *Node
	switch s[0] {
	case '|', '>':
		n = r.scalar(s, indent)
	case '"', '\'':
		text, rest, ok := quoted(s)
		if !ok || !isComment(rest) {
			return r.leave()
		}
		n = r.node(String, text, line)
		r.advance()
	default:
		text, ok := plain(s)
		if !ok {
			return r.leave()
		}
		kind, value := resolve(text)
		n = r.node(kind, value, line)
		n.spell(text)
		r.advance()
	}
	if r.indent > indent { // the scalar goes on, or something is wrong
		return r.leave()
	}
	return n
}

// isComment reports whether nothing but a comment follows a scalar.
func isComment(rest string) bool {
	return rest == "" || strings.HasPrefix(strings.TrimLeft(rest, " "), "#") && rest[0] == ' '
}

// plain returns the text of a plain scalar that begins a value.
func plain(s string) (string, bool) {
	if !beginsPlain(s) {
		return "", false
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == ':' && (i+1 == len(s) || s[i+1] == ' '):
			return "", false
		case s[i] == '#' && s[i-1] == ' ':
			return strings.TrimRight(s[:i], " "), true
		}
	}
	return s, true
}

// quoted returns the text of a quoted scalar that ends with its line, and what
// follows it.
func quoted(s string) (text, rest string, ok bool) {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == quote && quote == '\'' && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			text, rest = s[1:i], s[i+1:]
			if quote == '\'' {
				return strings.ReplaceAll(text, "''", "'"), rest, true
			}
			text, ok = unescape(text)
			return text, rest, ok
		case s[i] == '\\' && quote == '"':
			i++
		}
	}
	return "", "", false
}

// unescape resolves the escapes of a double-quoted text that are common.
func unescape(s string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, true
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			i++
			switch s[i] {
			case '\\', '"', '/':
				c = s[i]
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			default:
				return "", false
			}
		}
		out = append(out, c)
	}
	return string(out), true
}

// scalar reads a block scalar with its header at the front of s.
func (r *blockReader) scalar(s string, parent int) *Node {
	folded, chomp := s[0] == '>', byte(0)
	rest := s[1:]
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		chomp, rest = rest[0], rest[1:]
	}
	if !isComment(rest) {
		return r.leave()
	}
	n := r.node(String, "", r.number)
	b := blockScalar{folded: folded}
	indent := -1
	end := r.next
	for {
		line, ok := r.rawLine()
		if !ok {
			break
		}
		spaces := indentOf(line)
		switch {
		case indent < 0 && spaces == len(line):
			b.widest = max(b.widest, spaces)
			b.blank++
		case indent < 0:
			if indent = spaces; indent <= parent || b.widest > indent {
				return r.leave()
			}
			b.line(line[indent:])
		case spaces == len(line) && spaces <= indent:
			b.blank++
		case spaces < indent:
			r.next, r.number = end, r.number-1
			ok = false
		default:
			b.line(line[indent:])
		}
		if !ok {
			break
		}
		end = r.next
	}
	if indent < 0 {
		return r.leave()
	}
	n.Text = b.end(chomp)
	n.size = weight(n.Text)
	r.advance()
	return n
}

// blockScalar puts the lines of a block scalar together.
type blockScalar struct {
	text   strings.Builder
	folded bool
	begun  bool
	deep   bool // the line before began with a blank
	blank  int  // empty lines since
	widest int  // of the empty lines in front
}

func (b *blockScalar) line(s string) {
	deep := s[0] == ' '
	switch {
	case !b.begun:
	case b.folded && !b.deep && !deep:
		if b.blank == 0 {
			b.text.WriteByte(' ')
		}
	default:
		b.text.WriteByte('\n')
	}
	for range b.blank {
		b.text.WriteByte('\n')
	}
	b.text.WriteString(s)
	b.begun, b.deep, b.blank = true, deep, 0
}

// end returns the text with as many breaks behind it as the header asks for.
func (b *blockScalar) end(chomp byte) string {
	if chomp != '-' {
		b.text.WriteByte('\n')
	}
	if chomp == '+' {
		for range b.blank {
			b.text.WriteByte('\n')
		}
	}
	return b.text.String()
}
