package catalog

import (
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Kind is what sort of rule an entry is.
type Kind string

// The kinds of rules.
const (
	Detection   Kind = "detection"
	Correlation Kind = "correlation"
)

// Logsource is the log source that a rule is evaluated for. Parts that it does not
// name are empty.
type Logsource struct{ Product, Category, Service string }

// Entry is a rule as it serves, behind filters and pipelines.
type Entry struct {
	Kind      Kind
	ID        string // empty for a rule without one
	Title     string
	Level     ast.Level
	File      string // as the caller of New places it
	Document  int    // from 1
	Logsource Logsource
	Tally     *Tally
}

// Catalog lists the rules of one rule set. It never changes, but for its tallies.
type Catalog struct {
	entries []Entry // detections by load index, then correlations by theirs
	uppers  int     // number of the first correlation
	texts   shelf   // of the entries
}

// New lists the rules of a set. Place gives the path by which people open a file.
// Tallies are taken over from the catalog of the set before, which may be nil.
func New(rules []*ast.Rule, correlations []*ast.Correlation, place func(file string) string, before *Catalog) *Catalog {
	c := &Catalog{entries: make([]Entry, 0, len(rules)+len(correlations)), uppers: len(rules)}
	m := maker{texts: make(map[string]string), place: place, files: make(map[string]string)}
	var texts storer
	for _, r := range rules {
		e := m.entry(Detection, &r.Meta)
		e.Logsource = Logsource{m.text(r.Logsource.Product), m.text(r.Logsource.Category), m.text(r.Logsource.Service)}
		c.entries = append(c.entries, e)
		texts.add(&r.Meta)
	}
	for _, r := range correlations {
		c.entries = append(c.entries, m.entry(Correlation, &r.Meta))
		texts.add(&r.Meta)
	}
	c.texts = texts.end()
	c.count(before)
	return c
}

// maker makes entries that refer to nothing of the documents which is large.
type maker struct {
	texts, files map[string]string
	place        func(file string) string
}

func (m *maker) text(s string) string {
	known, ok := m.texts[s]
	if !ok {
		known = strings.Clone(s)
		m.texts[known] = known
	}
	return known
}

func (m *maker) file(name string) string {
	placed, ok := m.files[name]
	if !ok {
		placed = strings.Clone(m.place(name))
		m.files[name] = placed
	}
	return placed
}

func (m *maker) entry(k Kind, meta *ast.Meta) Entry {
	return Entry{
		Kind: k, ID: strings.Clone(meta.ID), Title: strings.Clone(meta.Title), Level: meta.Level,
		File: m.file(meta.Origin.File), Document: meta.Origin.Document,
	}
}

// identity is by what a rule is known again. Several may share one: they are told apart
// by their order.
type identity struct {
	kind            Kind
	id, file, title string
	nth             int
}

// identities gives each entry its identity.
func (c *Catalog) identities(each func(*Entry, identity)) {
	if c == nil {
		return
	}
	seen := make(map[identity]int, len(c.entries))
	for i := range c.entries {
		e := &c.entries[i]
		who := identity{kind: e.Kind, id: e.ID}
		if e.ID == "" {
			who.file, who.title = e.File, e.Title
		}
		n := seen[who]
		seen[who] = n + 1
		who.nth = n
		each(e, who)
	}
}

// count gives each entry its tally: that of the entry it was before.
func (c *Catalog) count(before *Catalog) {
	known := make(map[identity]*Tally)
	before.identities(func(e *Entry, who identity) { known[who] = e.Tally })
	c.identities(func(e *Entry, who identity) {
		if e.Tally = known[who]; e.Tally == nil {
			e.Tally = new(Tally)
		}
	})
}

// Detection is the tally of a detection by its load index.
func (c *Catalog) Detection(index int) *Tally { return c.entries[index].Tally }

// Correlation is the tally of a correlation by its load index.
func (c *Catalog) Correlation(index int) *Tally { return c.entries[c.uppers+index].Tally }
