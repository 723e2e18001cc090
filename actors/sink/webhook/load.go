package webhook

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/internal/strict"
	"github.com/sluicehq/sluice/internal/suggest"
)

// Fault is one thing that is wrong with the files of webhooks.
type Fault struct {
	Path int    // number of the path that led to it
	File string // in which it is; empty if the path itself cannot be read
	Line int    // of the file; 0 when unknown
	Err  error  // perhaps a *suggest.Error within
}

// Error is the fault on one line.
func (f *Fault) Error() string {
	switch {
	case f.File == "":
		return f.Err.Error()
	case f.Line == 0:
		return fmt.Sprintf("%s: %v", f.File, f.Err)
	}
	return fmt.Sprintf("%s:%d: %v", f.File, f.Line, f.Err)
}

// Unwrap gives the error.
func (f *Fault) Unwrap() error { return f.Err }

// LoadOptions say what webhooks must agree with.
type LoadOptions struct {
	Taken  []string                 // labels of other sinks
	Policy egress.Policy            // says which addresses may be reached
	Getenv func(name string) string // of secrets and of templates' variables; nil is os.Getenv
	// Log is told, while webhooks send, of renewed client certificates that cannot be
	// used. Nil tells nobody.
	Log *slog.Logger
}

// Load reads files, and directories of files, of webhooks. Those without a fault are
// returned even when others have some. Every fault of every file is reported, in the
// order of the files; no message shows a secret.
func Load(paths []string, o LoadOptions) ([]*Webhook, []*Fault) {
	l := loader{o: o, ids: make(map[string]bool)}
	if l.o.Getenv == nil {
		l.o.Getenv = os.Getenv
	}
	for i, path := range paths {
		l.path = i
		files, err := strict.Files(path)
		if err != nil {
			l.faults = append(l.faults, &Fault{Path: i, Err: fmt.Errorf("webhooks '%s' cannot be read: %w", path, err)})
		}
		for _, l.file = range files {
			l.read(l.file == path)
		}
	}
	return l.webhooks, l.faults
}

// loader collects what files have.
type loader struct {
	o        LoadOptions
	path     int
	file     string
	ids      map[string]bool
	webhooks []*Webhook
	faults   []*Fault
}

func (l *loader) fault(line int, err error) {
	l.faults = append(l.faults, &Fault{Path: l.path, File: l.file, Line: line, Err: err})
}

// read reads the file. named says that the configuration names the file itself.
func (l *loader) read(named bool) {
	root, err := strict.ReadFile(l.file)
	if err != nil {
		var within strict.Fault
		if !errors.As(err, &within) && named {
			l.faults = append(l.faults, &Fault{Path: l.path, Err: fmt.Errorf("webhooks '%s' cannot be read: %w", l.file, err)})
			return
		}
		l.fault(within.Line, fmt.Errorf("the file cannot be read: %w", err))
		return
	}
	if root.Kind == document.Null {
		if info, err := os.Stat(l.file); err == nil && info.Size() == 0 {
			l.fault(0, errors.New("the file is empty (webhooks: [] says that there are none)"))
		}
		return
	}
	var file struct {
		Webhooks []*document.Node `yaml:"webhooks"`
	}
	_, faults := strict.Decode(root, &file)
	for _, f := range faults {
		l.fault(f.Line, whole(f.Err, root.Kind))
	}
	for i, entry := range file.Webhooks {
		l.entry(i, entry)
	}
}

// whole says what a file of webhooks is, where nothing else says what was meant: it may be
// a file of another kind.
func whole(err error, kind document.Kind) error {
	var unknown *strict.UnknownKey
	var misspelt *suggest.Error
	if kind != document.Map || errors.As(err, &unknown) && errors.As(err, &misspelt) && misspelt.Suggestion == "" {
		return fmt.Errorf("%w (a file of webhooks has one key, webhooks, with a list of them)", err)
	}
	return err
}

// entry reads one webhook.
func (l *loader) entry(number int, n *document.Node) {
	c := DefaultConfig()
	lines, faults := strict.Decode(n, &c)
	name := fmt.Sprintf("webhook '%s': ", c.ID)
	if c.ID == "" {
		name = fmt.Sprintf("webhook number %d of the file: ", number+1)
	}
	refused := make(map[string]bool)
	for _, f := range faults {
		refused[f.Key] = true
		l.fault(f.Line, prefixed(name, f.Err))
	}
	if n.Kind != document.Map {
		return
	}
	before := len(l.faults)
	b := builder{c: c, lines: lines, getenv: l.o.Getenv, policy: l.o.Policy, log: l.o.Log, fail: func(key string, err error) {
		if !refused[key] { // what stands in its place says nothing
			l.fault(lines.Named(err.Error(), key), prefixed(name, err))
		}
	}}
	b.identify(l.o.Taken, l.ids)
	w := b.build()
	if len(faults) == 0 && len(l.faults) == before {
		l.webhooks = append(l.webhooks, w)
	}
}

// prefixed is an error with text in front, that keeps what it wraps.
func prefixed(text string, err error) error { return fmt.Errorf("%s%w", text, err) }
