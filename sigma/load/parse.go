package load

import (
	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/sigma/ast"
)

// parser reads the documents of files. It may be shared by goroutines.
type parser struct {
	minLevel   ast.Level
	exclusions []Exclusion
}

func newParser(o *Options) (*parser, error) {
	p := &parser{minLevel: o.MinLevel}
	for _, entry := range o.ExcludeRules {
		e, err := ParseExclusion(entry)
		if err != nil {
			return nil, err
		}
		p.exclusions = append(p.exclusions, e)
	}
	return p, nil
}

// file reads the documents of a file.
func (p *parser) file(f File, data []byte) *file {
	docs, fault := document.Read(data)
	out := &file{File: f, docs: make([]parsed, 0, len(docs)), roots: make([]*document.Node, 0, len(docs))}
	fail := func(number, line int, reason string) {
		d := newFault(f.Name, number, f.SHA256)
		d.fail(line, "%s", reason)
		out.add(d)
	}
	state := collection{size: len(data)}
	for _, doc := range docs {
		if doc.Err != nil {
			fail(doc.Number, doc.Line, doc.Err.Error())
		} else if d := p.document(f.Name, &state, doc); d != nil {
			out.add(d)
		}
	}
	out.common, out.whole = state.memory != nil, state.whole
	if fault != nil {
		fail(fault.Number, fault.Line, fault.Detail)
	}
	return out
}

// document reads one document; nil when there is nothing in it.
func (p *parser) document(file string, state *collection, doc document.Document) *draft {
	if doc.Root.Kind == document.Null {
		return nil
	}
	root, reason := doc.Root, "document must be a mapping"
	if root.Kind == document.Map {
		merged, err := state.next(root)
		switch {
		case err != nil:
			reason = err.Error()
		case merged == nil:
			return nil
		default:
			root, reason = merged, state.afford(merged)
		}
	}
	d := newDraft(file, doc.Number, root)
	d.memory = state.memory
	isFilter := root.Get("correlation") == nil && root.Get("filter") != nil
	if reason == "" && !isFilter {
		if d.Excluded, d.ExcludedBy = p.excludes(root); d.Excluded {
			d.root = nil // it is never rejected
			return d
		}
	}
	if reason != "" {
		d.fail(root.Line, "%s", reason)
		return d
	}
	for _, n := range doc.Notes {
		d.warn(n.Line, "%s", n.Text)
	}
	d.guard(func() { d.parse(isFilter) })
	return d
}

// parse reads a document by its kind.
func (d *draft) parse(isFilter bool) {
	switch {
	case d.root.Get("correlation") != nil:
		d.parseCorrelation()
	case isFilter:
		d.parseFilter()
	default:
		d.parseRule()
	}
}
