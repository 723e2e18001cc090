package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// MaxAliased bounds the nodes that a file may reach through aliases; a long text
// weighs as much as several.
const MaxAliased = 100_000

// Document is one document of a file.
type Document struct {
	Number int   // from 1; empty documents count, too
	Root   *Node // of kind Null for an empty document
	Err    error // the document is unusable, those behind it are not; Root is nil
	Line   int   // of Err
	Notes  []Note
}

// Note is something an author should know about a document.
type Note struct {
	Line int
	Text string
}

// SyntaxError ends a file. Number is the document it stands in, 0 when the file
// as a whole is unreadable.
type SyntaxError struct {
	Number int
	Line   int // 0 when unknown
	Detail string
}

// Error tells the detail alone: place and number are for the caller to render.
func (e *SyntaxError) Error() string { return e.Detail }

// Read returns the documents of a file in order. A fault gives those that end
// before it and an error.
func Read(data []byte) ([]Document, *SyntaxError) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		return nil, &SyntaxError{Detail: "file is not UTF-8"}
	}
	if root, ok := readBlock(string(data)); ok { // the fast path
		return []Document{{Number: 1, Root: root}}, nil
	}
	return parse(data)
}

// parse reads any file.
func parse(data []byte) ([]Document, *SyntaxError) {
	var docs []Document
	r := reader{dialect: toldApart(data), anchors: make(map[*yaml.Node]*Node)}
	stream := yaml.NewDecoder(bytes.NewReader(r.text))
	for n := 1; ; n++ {
		var root yaml.Node
		err := decode(stream, &root)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return docs, r.fault(n, err)
		}
		d, fault := r.document(n, &root)
		if fault != nil {
			return docs, fault
		}
		docs = append(docs, d)
	}
}

// decode keeps a defect of the parser from ending the process: foreign bytes
// must never do that.
func decode(stream *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("unreadable: %v", p)
		}
	}()
	return stream.Decode(into)
}

var (
	lineInError = regexp.MustCompile(`^line (\d+): `)
	// The parser counts lines from 0 where its grammar is at a loss, and from 1
	// where its scanner is.
	fromGrammar = regexp.MustCompile(`^did not find expected (node content|'-' indicator|key|',' or|<document start>)`)
)

// fault tells what the parser found. It does not tell lines that are the first, nor
// those of characters that are no part of YAML.
func (r *reader) fault(number int, err error) *SyntaxError {
	line, detail := Place(err)
	switch {
	case line > 0 || strings.HasPrefix(detail, "unknown anchor") || strings.HasPrefix(detail, "unreadable"):
	case strings.HasPrefix(detail, "control characters"):
		line = lineOfControl(r.text)
	default:
		line = 1
	}
	return &SyntaxError{Number: number, Line: line, Detail: "invalid YAML: " + r.back(detail, false)}
}

// Place takes an error of the YAML parser apart: the line it is about, which the
// parser miscounts, 0 when unknown, and what is wrong there.
func Place(err error) (line int, detail string) {
	detail = strings.TrimPrefix(err.Error(), "yaml: ")
	if m := lineInError.FindStringSubmatch(detail); m != nil {
		line, _ = strconv.Atoi(m[1])
		detail = detail[len(m[0]):]
		if fromGrammar.MatchString(detail) {
			line++
		}
	}
	if strings.Contains(detail, "did not find expected alphabetic or numeric character") {
		detail += "; text that begins with * or & has to be quoted" // else YAML takes it for an alias or an anchor
	}
	return line, detail
}

// reader turns the nodes of the parser into ours.
type reader struct {
	dialect
	anchors map[*yaml.Node]*Node // nil while the anchored node is being read
	aliased int
	first   int // line of the current document
	notes   []Note
	over    int // line of the alias that passed the limit
}

func (r *reader) document(number int, root *yaml.Node) (Document, *SyntaxError) {
	r.notes, r.over, r.first = nil, 0, root.Line
	d := Document{Number: number, Root: &Node{Line: root.Line}}
	if len(root.Content) > 0 {
		n, err := r.node(root.Content[0])
		if err != nil {
			err.Number = number
			return d, err
		}
		d.Root = n
	}
	d.Notes = r.notes
	if r.over > 0 {
		d.Root, d.Line = nil, r.over
		d.Err = fmt.Errorf("aliases reach more than %d nodes, of which %d bytes of text count as one", MaxAliased, textOfNode)
	}
	return d, nil
}

func (r *reader) node(y *yaml.Node) (*Node, *SyntaxError) {
	if y.Kind == yaml.AliasNode {
		return r.alias(y)
	}
	if y.Anchor != "" {
		r.anchors[y] = nil
	}
	n := &Node{Line: y.Line, size: 1}
	var err *SyntaxError
	switch y.Kind {
	case yaml.SequenceNode:
		n.Kind = List
		err = r.list(n, y)
	case yaml.MappingNode:
		n.Kind = Map
		err = r.mapping(n, y)
	default:
		n.Kind, n.Text = r.scalar(y)
		n.size = weight(n.Text)
		n.spell(y.Value)
	}
	if y.Anchor != "" {
		r.anchors[y] = n
	}
	return n, err
}

func (r *reader) alias(y *yaml.Node) (*Node, *SyntaxError) {
	n := r.anchors[y.Alias]
	if y.Alias.Line < r.first {
		return nil, &SyntaxError{Line: y.Line, Detail: fmt.Sprintf("invalid YAML: unknown anchor '%s' referenced", y.Value)}
	}
	if n == nil {
		return nil, &SyntaxError{Line: y.Line, Detail: fmt.Sprintf("invalid YAML: anchor '%s' contains itself", y.Value)}
	}
	if r.aliased += int(n.size); r.aliased > MaxAliased {
		r.aliased = MaxAliased + 1
		if r.over == 0 {
			r.over = y.Line
		}
		// Nothing reads what stands below a document over the limit.
		return &Node{Line: y.Line, size: 1}, nil
	}
	return n, nil
}

func (r *reader) scalar(y *yaml.Node) (Kind, string) {
	y.Value = r.back(y.Value, y.Style&yaml.DoubleQuotedStyle != 0)
	if y.Style&yaml.TaggedStyle != 0 {
		switch y.Tag {
		case "!!int", "!!float", "!!bool", "!!null":
			return resolve(y.Value)
		}
		return String, y.Value
	}
	if y.Style != 0 {
		return String, y.Value
	}
	return resolve(y.Value)
}

func (r *reader) list(n *Node, y *yaml.Node) *SyntaxError {
	n.Items = make([]*Node, 0, len(y.Content))
	for _, c := range y.Content {
		it, err := r.node(c)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, it)
		n.size += it.size
	}
	return nil
}

func (r *reader) mapping(n *Node, y *yaml.Node) *SyntaxError {
	n.Entries = make([]Entry, 0, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, err := r.node(y.Content[i])
		if err != nil {
			return err
		}
		if key.Kind == String && key.Text == "<<" && y.Content[i].Style == 0 {
			r.notes = append(r.notes, Note{key.Line, "merge key '<<' is read as an ordinary key"})
		}
		value, err := r.node(y.Content[i+1])
		if err != nil {
			return err
		}
		n.Entries = append(n.Entries, Entry{key, value})
		n.size += key.size + value.size
	}
	return repeatedKey(n)
}

// repeatedKey compares short mappings pairwise and long ones through a set.
func repeatedKey(n *Node) *SyntaxError {
	fault := func(k *Node) *SyntaxError {
		return &SyntaxError{Line: k.Line, Detail: fmt.Sprintf("invalid YAML: mapping key %q is repeated", k.Text)}
	}
	if len(n.Entries) <= 16 {
		for i, e := range n.Entries {
			for _, before := range n.Entries[:i] {
				if sameKey(e.Key, before.Key) {
					return fault(e.Key)
				}
			}
		}
		return nil
	}
	type scalarKey struct {
		kind Kind
		text string
	}
	seen := make(map[scalarKey]bool, len(n.Entries))
	for _, e := range n.Entries {
		if !e.Key.IsScalar() {
			continue
		}
		k := scalarKey{e.Key.Kind, e.Key.Text}
		if seen[k] {
			return fault(e.Key)
		}
		seen[k] = true
	}
	return nil
}

func sameKey(a, b *Node) bool {
	return a.Kind == b.Kind && a.IsScalar() && a.Text == b.Text
}
