package catalog

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Document is a rule with what it tells people, behind pipelines.
type Document struct {
	*Entry
	Texts
	told []byte // Texts as they are kept
}

// Texts are what a rule tells people.
type Texts struct {
	Tags           []string       `json:"tags,omitempty"`
	Description    string         `json:"description,omitempty"`
	FalsePositives []string       `json:"falsepositives,omitempty"`
	Attributes     map[string]any `json:"attributes,omitempty"` // JSON values; numbers are json.Number
}

// key names the rule towards results: its id, else its title.
func (e *Entry) key() string {
	if e.ID != "" {
		return e.ID
	}
	return e.Title
}

// Documents returns the rules that have each of the keys: their id, else their title. They
// come in the order in which they were loaded, detections first. Of rules that tell exactly
// the same there is the first.
func (c *Catalog) Documents(keys ...string) map[string][]Document {
	wanted := make(map[string]bool, len(keys))
	for _, key := range keys {
		wanted[key] = true
	}
	found := make(map[string][]Document)
	reader := c.texts.reader()
	for i := range c.entries {
		e := &c.entries[i]
		key := e.key()
		if !wanted[key] {
			continue
		}
		d := Document{Entry: e, told: reader.text(i)}
		if slices.ContainsFunc(found[key], d.same) {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(d.told))
		dec.UseNumber()
		if err := dec.Decode(&d.Texts); err != nil {
			panic(err) // it was written by this process
		}
		found[key] = append(found[key], d)
	}
	return found
}

// same reports whether two rules of one key tell the same.
func (d *Document) same(other Document) bool {
	return d.Kind == other.Kind && d.ID == other.ID && d.Title == other.Title && d.Level == other.Level && bytes.Equal(d.told, other.told)
}

// shelf keeps the texts of rules by their number. They are most of what a rule says and
// hardly ever read, so they are compressed, many together.
type shelf struct{ blocks [][]byte }

// perBlock is how many texts are read for the sake of one.
const perBlock = 64

// storer fills a shelf.
type storer struct {
	shelf
	held    bytes.Buffer
	count   int
	deflate *flate.Writer
}

func (s *storer) add(m *ast.Meta) {
	text, err := json.Marshal(Texts{m.Tags, m.Description, m.FalsePositives, m.Attributes})
	if err != nil {
		text = []byte("{}") // attributes are JSON values, which are always written
	}
	s.held.Write(append(text, '\n'))
	if s.count++; s.count%perBlock == 0 {
		s.flush()
	}
}

func (s *storer) flush() {
	if s.held.Len() == 0 {
		return
	}
	var b bytes.Buffer
	if s.deflate == nil {
		s.deflate, _ = flate.NewWriter(&b, flate.BestSpeed) // a level that exists
	} else {
		s.deflate.Reset(&b)
	}
	_, _ = s.deflate.Write(s.held.Bytes()) // a buffer takes everything
	_ = s.deflate.Close()
	s.held.Reset()
	s.blocks = append(s.blocks, bytes.Clone(b.Bytes()))
}

// end returns what was stored.
func (s *storer) end() shelf {
	s.flush()
	return s.shelf
}

// reader reads texts. Those of one block are unpacked once.
func (s *shelf) reader() *shelfReader { return &shelfReader{shelf: s, block: -1} }

type shelfReader struct {
	*shelf
	block int
	lines [][]byte
}

func (r *shelfReader) text(i int) []byte {
	if block := i / perBlock; block != r.block {
		data, err := io.ReadAll(flate.NewReader(bytes.NewReader(r.blocks[block])))
		if err != nil {
			panic(fmt.Errorf("unpack the texts of rules: %w", err)) // they were packed by this process
		}
		r.block, r.lines = block, bytes.Split(data, []byte("\n"))
	}
	return r.lines[i%perBlock]
}
