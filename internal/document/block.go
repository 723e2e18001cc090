package document

import (
	"slices"
	"strings"
	"sync"
)

// blockReader reads one document of the kind that almost every rule file is:
// block mappings and sequences, scalars that end with their line, block scalars.
// It takes a tenth of the time of the parser of the whole language. Whatever
// else it meets, also every fault, it leaves to that parser: what it reads, it
// reads as that one does.
type blockReader struct {
	text string
	next int  // where the line behind the current one begins
	left bool // the document is not of that kind

	begun bool // a line with content was met

	// The current line that has content; indent is -1 behind the last.
	number  int
	indent  int
	content string // without indentation and trailing spaces

	nodes   []Node  // to give out
	entries []Entry // of the mappings being read, inner ones behind
	items   []*Node // of the lists
	depth   int
}

// blockReaders are readers with what the last file left: nodes that nobody has, and
// room for lists.
var blockReaders = sync.Pool{New: func() any { return new(blockReader) }}

// nodesAtOnce is how many nodes are allocated together, those of a few files.
const nodesAtOnce = 256

// maxBlockDepth bounds how deep blocks may lie in each other.
const maxBlockDepth = 64

// readBlock returns the only document of a file; false when it is left to the
// parser.
func readBlock(text string) (*Node, bool) {
	if !strings.HasSuffix(text, "\n") || !printable(text) {
		return nil, false
	}
	r := blockReaders.Get().(*blockReader)
	defer blockReaders.Put(r)
	*r = blockReader{text: text, nodes: r.nodes, entries: r.entries[:0], items: r.items[:0]}
	r.advance()
	if r.indent == 0 && r.content == "---" {
		r.advance()
	}
	if r.indent < 0 {
		return nil, false
	}
	root := r.block()
	return root, !r.left && r.indent < 0 && root.Kind == Map
}

// printable reports whether a text has neither tabs, returns, other control
// characters nor line breaks beyond ASCII.
func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < 0x7F:
			if c < ' ' && c != '\n' {
				return false
			}
		case c == 0x7F:
			return false
		case c == 0xC2 && s[i+1] < 0xA0, c == 0xE2 && s[i+1] == 0x80 && s[i+2]|1 == 0xA9, c == 0xEF && s[i+1] >= 0xBB:
			return false
		}
	}
	return true
}

// leave gives the document up.
func (r *blockReader) leave() *Node {
	r.left, r.indent = true, -1
	return &Node{}
}

// rawLine takes the next line without its break.
func (r *blockReader) rawLine() (line string, ok bool) {
	if r.next == len(r.text) {
		return "", false
	}
	n := strings.IndexByte(r.text[r.next:], '\n')
	line = r.text[r.next : r.next+n]
	r.next += n + 1
	r.number++
	return line, true
}

// advance goes to the next line that has content.
func (r *blockReader) advance() {
	for {
		line, ok := r.rawLine()
		if !ok {
			r.indent, r.content = -1, ""
			return
		}
		n := indentOf(line)
		if n == len(line) || line[n] == '#' {
			continue
		}
		r.indent, r.content = n, strings.TrimRight(line[n:], " ")
		marker := n == 0 && (strings.HasPrefix(line, "---") || strings.HasPrefix(line, "..."))
		if marker && (r.begun || r.content != "---") || line[n] == '%' {
			r.leave()
		}
		r.begun = true
		return
	}
}

func indentOf(line string) int {
	n := 0
	for n < len(line) && line[n] == ' ' {
		n++
	}
	return n
}

func (r *blockReader) node(kind Kind, text string, line int) *Node {
	if len(r.nodes) == 0 {
		r.nodes = make([]Node, nodesAtOnce)
	}
	n := &r.nodes[0]
	r.nodes = r.nodes[1:]
	n.Kind, n.Text, n.Line, n.size = kind, text, line, weight(text)
	return n
}

// block reads what begins on the current line.
func (r *blockReader) block() *Node {
	if r.depth++; r.depth > maxBlockDepth {
		return r.leave()
	}
	defer func() { r.depth-- }()
	if isItem(r.content) {
		return r.list(r.indent)
	}
	if r.isKey() {
		return r.mapping(r.indent)
	}
	return r.inline(r.content, r.indent-1)
}

func isItem(content string) bool { return content == "-" || strings.HasPrefix(content, "- ") }

func (r *blockReader) list(indent int) *Node {
	n := r.node(List, "", r.number)
	first := len(r.items)
	for r.indent == indent && isItem(r.content) {
		rest := r.content[1:]
		spaces := indentOf(rest)
		var it *Node
		switch rest = rest[spaces:]; {
		case rest == "" || rest[0] == '#':
			it = r.below(indent, false)
		default:
			r.indent, r.content = indent+1+spaces, rest
			if isItem(rest) || r.isKey() {
				it = r.block()
			} else {
				it = r.inline(rest, indent)
			}
		}
		r.items = append(r.items, it)
		n.size += it.size
	}
	if r.indent > indent {
		return r.leave()
	}
	n.Items, r.items = slices.Clone(r.items[first:]), r.items[:first]
	return n
}

// below reads the block that stands on the lines below its key or dash, deeper
// than indent; null when there is none. Behind a key a list need not be deeper.
func (r *blockReader) below(indent int, key bool) *Node {
	line := r.number
	r.advance()
	switch {
	case r.indent > indent:
		return r.block()
	case key && r.indent == indent && isItem(r.content):
		return r.list(indent)
	}
	return r.node(Null, "", line)
}

func (r *blockReader) mapping(indent int) *Node {
	n := r.node(Map, "", r.number)
	first := len(r.entries)
	for r.indent == indent {
		key, rest, ok := r.key()
		if !ok {
			return r.leave()
		}
		var value *Node
		if rest == "" || rest[0] == '#' {
			value = r.below(indent, true)
		} else {
			value = r.inline(rest, indent)
		}
		r.entries = append(r.entries, Entry{key, value})
		n.size += key.size + value.size
	}
	n.Entries, r.entries = slices.Clone(r.entries[first:]), r.entries[:first]
	if r.indent > indent || repeatedKey(n) != nil {
		return r.leave()
	}
	return n
}
