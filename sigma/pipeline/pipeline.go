package pipeline

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sluicehq/sluice/internal/document"
)

// Pipeline is one document: variables and items in declared order.
type Pipeline struct {
	Name     string
	Path     string // as given: a built-in's name or a file's path
	Priority int32
	Vars     map[string][]string
	// Dynamic is true when the document refers to a source (${source.id} in a
	// variable, or an include item).
	Dynamic  bool
	Warnings []string
	Ignored  []string          // keys that concern queries, which are not produced here
	Digest   [sha256.Size]byte // of the document as written; zero for one without a document
	items    []*item
	fed      map[string]*variable // those with values of sources in them, once the pipeline is expanded
}

// Builtin reports whether the pipeline came out of the binary.
func (p *Pipeline) Builtin() bool { return slices.Contains(Builtins[:], p.Path) }

// Set is the pipelines of one engine in execution order. It is not to be copied, and
// does not change once it was applied.
type Set struct {
	Pipelines []*Pipeline

	views    sync.Once
	viewed   []map[string]*variable // by pipeline: what names stand for in it
	contents []content              // of the includes, once the set is expanded
	values   map[string]Value       // that it was expanded with
}

// Same reports whether both sets were made of the same documents.
func (s *Set) Same(other *Set) bool {
	return slices.EqualFunc(s.Pipelines, other.Pipelines, func(a, b *Pipeline) bool { return a.Path == b.Path && a.Digest == b.Digest })
}

// LoadError is a pipeline that cannot be used.
type LoadError struct {
	Path string
	Err  error
}

// Error reads "<path>: <reason>"; callers put "Error loading pipeline" in front.
func (e *LoadError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap gives the reason.
func (e *LoadError) Unwrap() error { return e.Err }

// LineError is an error about one line of a pipeline's text.
type LineError struct {
	Line int // from 1
	Err  error
}

// Error is the reason.
func (e *LineError) Error() string { return e.Err.Error() }

// Unwrap gives the reason.
func (e *LineError) Unwrap() error { return e.Err }

// atLine gives an error its line unless it has one.
func atLine(line int, err error) error {
	var located *LineError
	if line == 0 || errors.As(err, &located) {
		return err
	}
	return &LineError{Line: line, Err: err}
}

// Load reads built-in pipelines and files and sorts them by priority; equal
// priorities keep the order given. The first pipeline that cannot be used ends
// it with a *LoadError.
func Load(names []string) (*Set, error) {
	s := &Set{}
	for _, name := range names {
		p, err := loadOne(name)
		if err != nil {
			return nil, &LoadError{Path: name, Err: err}
		}
		s.Pipelines = append(s.Pipelines, p)
	}
	slices.SortStableFunc(s.Pipelines, func(a, b *Pipeline) int { return cmp.Compare(a.Priority, b.Priority) })
	return s, nil
}

func loadOne(name string) (*Pipeline, error) {
	var data []byte
	var err error
	switch {
	case name == "windows_evtx":
		return windowsEVTX(), nil
	case slices.Contains(Builtins[:], name):
		data = Source(name)
	default:
		info, statErr := os.Stat(name)
		switch {
		case errors.Is(statErr, fs.ErrNotExist) && filepath.Ext(name) == "" && filepath.Base(name) == name: // meant as one that is built in
			return nil, fmt.Errorf("cannot read pipeline file: %w (built in are %s)", statErr, strings.Join(Builtins[:], ", "))
		case statErr != nil: // reading tells
		case info.IsDir():
			return nil, errors.New("is a directory, a pipeline is one file")
		case !info.Mode().IsRegular(): // reading a pipe or a device may never end
			return nil, errors.New("is no regular file")
		}
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read pipeline file: %w", err)
	}
	p, err := Parse(data)
	if err != nil {
		return nil, err
	}
	p.Path = name
	return p, nil
}

// Parse reads one pipeline document.
func Parse(data []byte) (*Pipeline, error) {
	docs, fault := document.Read(data)
	if fault != nil {
		return nil, atLine(fault.Line, fmt.Errorf("pipeline YAML parse error: %w", yamlError(fault)))
	}
	if len(docs) > 0 && docs[0].Err != nil {
		return nil, atLine(docs[0].Line, fmt.Errorf("pipeline YAML parse error: line %d: %w", docs[0].Line, docs[0].Err))
	}
	if len(docs) != 1 || docs[0].Root.Kind != document.Map {
		return nil, errors.New("pipeline YAML must be a mapping")
	}
	p := &Pipeline{Name: "unnamed", Vars: map[string][]string{}, Digest: sha256.Sum256(data)}
	for _, e := range docs[0].Root.Entries {
		if err := p.key(e); err != nil {
			return nil, atLine(e.Value.Line, err)
		}
		if key := e.Key.Text; key != "vars" && key != "transformations" {
			p.warnElsewhere(e.Value, "pipeline", key)
		}
	}
	p.doubt()
	return p, nil
}

// doubt warns of a file of which nothing was understood, which is one of another kind.
func (p *Pipeline) doubt() {
	if len(p.items)+len(p.Vars)+len(p.Ignored) == 0 && len(p.Warnings) > 0 {
		p.warn("it has no transformations, so it changes no rule: is it a processing pipeline?")
	}
}

func yamlError(f *document.SyntaxError) error {
	if f.Line > 0 {
		return fmt.Errorf("line %d: %w", f.Line, f)
	}
	return f
}

func (p *Pipeline) key(e document.Entry) (err error) {
	v := e.Value
	switch key := e.Key.Text; key {
	case "name":
		if p.Name, err = text(v, "name"); err != nil {
			return err
		}
	case "priority":
		n, err := strconv.ParseInt(v.Text, 10, 32)
		if v.Kind != document.Int || err != nil {
			return fmt.Errorf("priority must be an integer between %d and %d", math.MinInt32, math.MaxInt32)
		}
		p.Priority = int32(n)
	case "vars":
		return p.vars(v)
	case "transformations":
		if v.Kind == document.Null {
			return nil
		}
		if v.Kind != document.List {
			return errors.New("transformations must be a sequence")
		}
		r := reader{pipeline: p}
		p.items, err = r.items(v.Items, "transformations", false)
		return err
	case "finalizers", "postprocessing", "allowed_backends":
		p.Ignored = append(p.Ignored, key)
	case "sources":
		return errors.New("inline 'sources:' was removed in v1.0; move the block with `sluice rule migrate-sources -p <pipeline> -o sources.yml` and load it with --source")
	default:
		p.warn("unknown key '%s' is ignored", key)
	}
	return nil
}

func (p *Pipeline) warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

func (p *Pipeline) vars(n *document.Node) error {
	if n.Kind == document.Null {
		return nil
	}
	if n.Kind != document.Map {
		return errors.New("vars must be a mapping")
	}
	for _, e := range n.Entries {
		name := e.Key.Text
		if strings.Contains(name, "%") {
			return fmt.Errorf("vars: name '%s' contains %%", name)
		}
		values := []*document.Node{e.Value}
		switch e.Value.Kind {
		case document.List:
			values = e.Value.Items
		case document.Null:
			values = nil
		}
		list := []string{}
		for _, v := range values {
			if !v.IsScalar() {
				return fmt.Errorf("vars: variable '%s' must be a scalar or a list of scalars", name)
			}
			if v.Kind != document.Null {
				list = append(list, v.Text)
				p.Dynamic = p.Dynamic || refers(v.Text)
			}
		}
		p.Vars[name] = list
	}
	return nil
}

func text(n *document.Node, key string) (string, error) {
	if n == nil || !n.IsScalar() || n.Kind == document.Null {
		return "", fmt.Errorf("'%s' must be a string", key)
	}
	return n.Text, nil
}
