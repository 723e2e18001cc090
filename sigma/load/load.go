package load

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/load/document"
)

// Load reads the files below roots, in the order given. The error is fatal: a
// root that is missing or unreadable, options that do not parse, or that of ctx,
// which is looked at before each file.
func Load(ctx context.Context, roots []string, o Options) (*Collection, error) {
	l, err := newLoader(o)
	if err != nil {
		return nil, err
	}
	sources, err := find(ctx, roots)
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var data []byte
		if s.err == nil {
			data, err = os.ReadFile(s.path)
			s.err = reason(err)
		}
		if s.err != nil {
			l.unreadable(s.name, s.err)
			continue
		}
		l.file(s.name, data)
	}
	return l.finish(), nil
}

// FromFS reads the rule files of a file system as Load reads one root.
func FromFS(fsys fs.FS, o Options) (*Collection, error) {
	l, err := newLoader(o)
	if err != nil {
		return nil, err
	}
	var names []string
	err = fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			l.unreadable(name, reason(err))
		case name != "." && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
		case !e.IsDir() && isRuleFile(name):
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			l.unreadable(name, reason(err))
			continue
		}
		l.file(name, data)
	}
	return l.finish(), nil
}

// FromBytes reads one file's content. Options that do not parse are rejected
// like an unreadable file.
func FromBytes(name string, data []byte, o Options) *Collection {
	l, err := newLoader(o)
	if err != nil {
		l = &loader{}
		l.unreadable(name, err)
		return l.finish()
	}
	l.file(name, data)
	return l.finish()
}

// loader gathers the documents of a load in order.
type loader struct {
	opts       Options
	exclusions []Exclusion
	drafts     []*draft
	excluded   []*draft
	out        Collection
}

func newLoader(o Options) (*loader, error) {
	l := &loader{opts: o}
	for _, entry := range o.ExcludeRules {
		e, err := ParseExclusion(entry)
		if err != nil {
			return nil, err
		}
		l.exclusions = append(l.exclusions, e)
	}
	return l, nil
}

func (l *loader) add(d *draft) *draft {
	l.drafts = append(l.drafts, d)
	return d
}

func (l *loader) unreadable(name string, err error) {
	l.add(newDraft(name, 0, nil)).fail(0, "unreadable: %v", err)
}

// file reads the documents of one file.
func (l *loader) file(name string, data []byte) {
	docs, fault := document.Read(data)
	var state collection
	for _, doc := range docs {
		if doc.Err != nil {
			d := l.add(newDraft(name, doc.Number, nil))
			d.raw = data
			d.fail(doc.Line, "%v", doc.Err)
			continue
		}
		l.document(name, &state, doc)
	}
	if fault != nil {
		d := l.add(newDraft(name, fault.Number, nil))
		d.raw = data
		d.fail(fault.Line, "%s", fault.Detail)
	}
}

func (l *loader) document(file string, state *collection, doc document.Document) {
	if doc.Root.Kind == document.Null {
		return
	}
	if doc.Root.Kind != document.Map {
		l.add(newDraft(file, doc.Number, doc.Root)).fail(doc.Root.Line, "document must be a mapping")
		return
	}
	root, err := state.next(doc.Root)
	if err != nil {
		l.add(newDraft(file, doc.Number, doc.Root)).fail(doc.Root.Line, "%v", err)
		return
	}
	if root == nil {
		return
	}
	d := newDraft(file, doc.Number, root)
	isFilter := root.Get("correlation") == nil && root.Get("filter") != nil
	if !isFilter && l.excludes(root) {
		d.state = excluded
		l.excluded = append(l.excluded, d)
		return
	}
	for _, n := range doc.Notes {
		d.warn(n.Line, "%s", n.Text)
	}
	l.add(d).parse(isFilter)
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

// finish judges the documents together, once all are read.
func (l *loader) finish() *Collection {
	l.mergeFilters()
	l.transformRules()
	l.filterDefaults()
	l.resolveCorrelations()
	l.warnIdleFilters()
	l.warnDuplicates()
	for _, d := range l.drafts {
		l.out.Warnings = append(l.out.Warnings, d.warnings...)
	}
	l.reject()
	for i := range l.exclusions {
		if e := &l.exclusions[i]; !e.used {
			l.out.Warnings = append(l.out.Warnings, sigma.Problem{Reason: fmt.Sprintf("exclude rule %q leaves nothing out", e.text)})
		}
	}
	l.out.Excluded = len(l.excluded)
	return &l.out
}

// reject lists the rejected documents in load order, but each behind those it is
// rejected for.
func (l *loader) reject() {
	listed := make(map[*draft]bool)
	var list func(d *draft)
	list = func(d *draft) {
		if d.usable() || listed[d] {
			return
		}
		listed[d] = true
		if d.correlation != nil {
			for _, cause := range slices.Concat(d.correlation.targets...) {
				list(cause)
			}
		}
		l.out.Rejected = append(l.out.Rejected, d.rejected())
	}
	for _, d := range l.drafts {
		list(d)
	}
}

// transformRules runs the pipelines over every detection rule and checks what
// they made of it.
func (l *loader) transformRules() {
	for _, d := range l.drafts {
		if d.rule == nil {
			continue
		}
		d.logsourceWritten = d.rule.Logsource
		if l.opts.Transform != nil {
			rewritten, outcome, err := l.opts.Transform(d.rule)
			l.applied(d, &rewritten.Meta, outcome, err)
			d.rule = rewritten
		}
		if d.state == skipped {
			continue
		}
		c := checker{written: d.written, vague: len(d.problems) > 0}
		c.rule(d.rule)
		d.adopt(c.problems, c.warnings)
		if d.usable() {
			l.out.Rules = append(l.out.Rules, d.rule)
			l.defaults(d)
		}
	}
}

// warnDuplicates reports ids that two usable documents carry.
func (l *loader) warnDuplicates() {
	first := make(map[string]*draft)
	for _, d := range l.drafts {
		if d.id == "" || !d.usable() || d.state != pending {
			continue
		}
		if before := first[d.id]; before != nil {
			d.warn(d.root.Line, "id %s is also that of %s; both documents are used", d.id, before.place())
			continue
		}
		first[d.id] = d
	}
}
