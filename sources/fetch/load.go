package fetch

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/strict"
)

// Fault is one thing that is wrong in a file of declarations.
type Fault struct {
	File      string
	Line      int    // 0 when unknown
	Text      string // without the place
	Collision bool   // two declarations have one id
}

// Error is the text and the place behind it. A collision names its files by itself.
func (f Fault) Error() string {
	switch {
	case f.Collision || f.File == "":
		return f.Text
	case f.Line == 0:
		return fmt.Sprintf("%s (%s)", f.Text, f.File)
	}
	return fmt.Sprintf("%s (%s:%d)", f.Text, f.File, f.Line)
}

// LoadError is the error of Load: all faults, at least one.
type LoadError struct{ Faults []Fault }

// Error is a line for each fault.
func (e *LoadError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		if f.Collision {
			lines[i] = "Source ID collision: " + f.Error()
		} else {
			lines[i] = "Error loading external sources: " + f.Error()
		}
	}
	return strings.Join(lines, "\n")
}

// Load reads the declarations of files, and of the .yml and .yaml files that lie directly in
// directories, in order. Warnings tell of what is ignored or taken otherwise than it is
// written. The error is a *LoadError; nothing is loaded then.
func Load(paths []string) (all []*Declaration, warnings []string, err error) {
	l := loader{first: make(map[string]*Declaration)}
	for _, path := range paths {
		l.path(path)
	}
	if len(l.faults) > 0 {
		return nil, l.warnings, &LoadError{l.faults}
	}
	return l.all, l.warnings, nil
}

type loader struct {
	all      []*Declaration
	first    map[string]*Declaration // by id
	warnings []string
	faults   []Fault
}

func (l *loader) path(path string) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		l.file(path)
		return
	}
	files, err := strict.Files(path)
	if err != nil {
		l.faults = append(l.faults, Fault{File: path, Text: "cannot read sources directory: " + err.Error()})
	}
	for _, name := range files {
		l.file(name)
	}
}

// file reads the declarations of one file.
func (l *loader) file(name string) {
	f := file{loader: l, name: name}
	data, err := strict.Bytes(name)
	if err != nil {
		f.fault(0, "cannot read sources file: %s", err)
		return
	}
	root, err := strict.Read(data)
	var bad strict.Fault
	switch {
	case errors.As(err, &bad):
		f.fault(bad.Line, "sources file YAML parse error: %s", bad)
		return
	case err != nil:
		f.fault(0, "sources file YAML parse error: %s", err)
		return
	case root.Kind != document.Map:
		f.fault(root.Line, "sources file must be a YAML mapping")
		return
	}
	var list *document.Node
	for _, e := range root.Entries {
		if e.Key.Kind == document.String && e.Key.Text == "sources" {
			list = e.Value
			continue
		}
		f.warn(e.Key.Line, "the key '%s' is ignored: a sources file has the key 'sources' alone", keyOf(e.Key))
	}
	switch {
	case list == nil:
		f.fault(0, "sources file must contain a top-level 'sources:' key")
		return
	case list.Kind != document.List:
		f.fault(list.Line, "sources must be a sequence")
		return
	}
	for _, n := range list.Items {
		if n.Kind != document.Map {
			f.fault(n.Line, "source must be a mapping")
			continue
		}
		f.declaration(n)
	}
}

// file is a file of declarations that is being read.
type file struct {
	*loader
	name string
}

func (f *file) fault(line int, format string, args ...any) {
	f.faults = append(f.faults, Fault{File: f.name, Line: line, Text: fmt.Sprintf(format, args...)})
}

func (f *file) warn(line int, format string, args ...any) {
	f.warnings = append(f.warnings, Fault{File: f.name, Line: line, Text: fmt.Sprintf(format, args...)}.Error())
}

// declaration reads a declaration of the file.
func (f *file) declaration(n *document.Node) {
	r := reader{file: f, node: n}
	faults := len(f.faults)
	d := r.read()
	if d.ID != "" {
		if first := f.first[d.ID]; first != nil {
			f.faults = append(f.faults, Fault{
				File: f.name, Line: n.Line, Collision: true,
				Text: fmt.Sprintf("source ID '%s' declared in both %s and %s (lines %d and %d)", d.ID, first.Place(), d.Place(), first.Line, n.Line),
			})
		} else {
			f.first[d.ID] = d
		}
	}
	if len(f.faults) == faults {
		f.all = append(f.all, d)
	}
}
