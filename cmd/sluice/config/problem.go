package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/suggest"
)

// Problem is one thing that is wrong with a configuration, or doubtful.
type Problem struct {
	Key        string `json:"key,omitempty"`        // dotted key, or the flag that made the setting
	File       string `json:"file,omitempty"`       // where the setting is made, or the file that it names
	Line       int    `json:"line,omitempty"`       // of the file, from 1; 0 when unknown
	Message    string `json:"message,omitempty"`    // empty for an unknown key
	Suggestion string `json:"suggestion,omitempty"` // "did you mean 'x'?"

	variable, cause string // of a variable that is ignored: what it would have set, and why
}

// Error is the problem on one line: FILE:LINE: key: message (suggestion).
func (p Problem) Error() string {
	place := p.File
	if p.Line > 0 {
		place += fmt.Sprintf(":%d", p.Line)
	}
	parts := slices.DeleteFunc([]string{place, p.Key, p.Message}, func(part string) bool { return part == "" })
	text := strings.Join(parts, ": ")
	if p.Suggestion != "" {
		text += " (" + p.Suggestion + ")"
	}
	return text
}

// Problems is an error of one line per problem.
type Problems []Problem

// Error has a line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].Error()
	}
	return strings.Join(lines, "\n")
}

// orNil is p as an error, nil when there is none.
func (p Problems) orNil() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// origin is where a setting was made.
type origin struct {
	layer Layer
	file  string // of LayerFile
	line  int
}

// origin finds where the setting with this path was made: itself, or the setting
// that it is a part of.
func (l *Loaded) origin(path string) origin {
	for {
		if o, ok := l.sources[path]; ok {
			return o
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return origin{layer: LayerDefault}
		}
		path = path[:i]
	}
}

// Layer tells which layer made a setting.
func (l *Loaded) Layer(path string) Layer { return l.origin(path).layer }

// Made reports whether any layer made the setting, or one below it.
func (l *Loaded) Made(path string) bool {
	for made := range l.sources {
		if made == path || strings.HasPrefix(made, path+".") {
			return true
		}
	}
	return false
}

// Name is how messages speak of a setting: the flag when one made it or nothing
// else could, else the dotted key.
func (l *Loaded) Name(path string) string {
	path, _, _ = strings.Cut(path, "[")
	name := path
	l.root.walk(func(f *field) {
		within := f.path == path || f.entries() && strings.HasPrefix(path, f.path+".")
		if within && f.flag != "" && (f.name == "" || l.Layer(path) == LayerFlag) {
			name = "--" + f.flag
		}
	})
	return name
}

// Problem is an error about the setting with this path, a dotted key that may
// end in the number of a list's member: "daemon.pipelines[1]". The suggestion of
// a *suggest.Error becomes that of the problem.
func (l *Loaded) Problem(path string, err error) Problem {
	o := l.origin(path)
	p := Problem{Key: l.Name(path), File: o.file, Line: o.line, Message: err.Error()}
	var near *suggest.Error
	if errors.As(err, &near) {
		p.Suggestion = near.Suggestion
	}
	return p
}
