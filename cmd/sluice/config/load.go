package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Options says what to load.
type Options struct {
	// File replaces the search for files.
	File string
	// Section is the one that flags belong to, beside global.
	Section string
	Flags   []Flag
	// Environ is the environment, in the form of os.Environ.
	Environ []string
	// Dir is the working directory, SystemDir the system's; empty means the
	// process's own and /etc/sluice.
	Dir, SystemDir string
}

// Flag is a flag that was given, with its values as written.
type Flag struct {
	Name   string
	Values []string
}

// Loaded is the merged configuration and what is known about its making.
type Loaded struct {
	Config            *Config
	Files             []string  // that were read, lowest precedence first
	UnknownKeys       []Problem // of files and variables
	Ignored, Warnings []Problem // wrong values of variables; what else is odd

	section string
	root    *field
	sources map[string]origin
}

func newLoaded(section string) *Loaded {
	return &Loaded{Config: Default(), section: section, root: tree(), sources: make(map[string]origin)}
}

// Load finds the files, merges every layer and returns the result. Values are
// of the right type but not yet checked: see Check. An error is a Problems with
// all that could not be read; the result then has the rest, and is nil only when
// no file was found.
func Load(o Options) (*Loaded, error) {
	files, err := o.discover()
	if err != nil {
		return nil, Problems{{File: o.File, Message: err.Error()}}
	}
	out := newLoaded(o.Section)
	out.Files = files
	var problems Problems
	for _, name := range files {
		l := out.readFile(name)
		problems = append(problems, l.problems...)
		out.apply(l)
	}
	out.apply(out.readEnviron(o.Environ))
	flags := out.readFlags(o.Flags)
	out.apply(flags)
	return out, append(problems, flags.problems...).orNil()
}

func (l *Loaded) readFile(name string) *layer {
	read := &layer{decoder: decoder{file: name}, kind: LayerFile}
	data, err := os.ReadFile(name)
	if err != nil {
		read.fault(&yaml.Node{}, "", fmt.Errorf("read config: %w", err))
		return read
	}
	if !read.parseYAML(l.root, data) {
		l.Warnings = append(l.Warnings, Problem{File: name, Message: "only the first document is read"})
	}
	for _, s := range read.settings {
		if s.path() == "version" && s.value.Int() > Version {
			err := fmt.Errorf("%d was written for a newer release, this one reads up to %d", s.value.Int(), Version)
			read.fault(&yaml.Node{Line: s.line}, s.path(), err)
		}
	}
	l.note(read)
	return read
}

// note records what a layer has that is no reason to stop.
func (l *Loaded) note(read *layer) {
	l.Warnings = append(l.Warnings, read.warnings...)
	for _, p := range read.unknown {
		p.File = cmp.Or(p.File, read.name)
		l.UnknownKeys = append(l.UnknownKeys, p)
	}
}

// discover returns the files to read, lowest precedence first.
func (o Options) discover() ([]string, error) {
	if o.File != "" {
		info, err := os.Stat(o.File)
		switch {
		case err != nil:
			return nil, fmt.Errorf("read config: %w", err)
		case info.IsDir():
			return nil, fmt.Errorf("read config: %s is a directory", o.File)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("read config: %s is no regular file", o.File)
		}
		return []string{o.File}, nil
	}
	system := cmp.Or(o.SystemDir, "/etc/sluice")
	files := firstRegular(nil, filepath.Join(system, "config.yaml"), filepath.Join(system, "config.yml"))
	if dir := o.userDir(); dir != "" {
		files = firstRegular(files, filepath.Join(dir, "config.yaml"), filepath.Join(dir, "config.yml"))
	}
	wd, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, errors.New("read config: the working directory is gone")
	}
	var upwards []string
	for dir, below := wd, ""; dir != below; dir, below = filepath.Dir(dir), dir {
		upwards = append(upwards, filepath.Join(dir, ".sluicerc"))
	}
	files = firstRegular(files, upwards...)
	local := cmp.Or(o.Dir, ".") + "/sluice" // as the operator would name it
	return firstRegular(files, local+".yaml", local+".yml"), nil
}

func (o Options) userDir() string {
	if dir := o.env("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "sluice")
	}
	if home := o.env("HOME"); home != "" {
		return filepath.Join(home, ".config", "sluice")
	}
	return ""
}

func (o Options) env(name string) string {
	for _, kv := range slices.Backward(o.Environ) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// firstRegular appends the first of names that is a regular file.
func firstRegular(files []string, names ...string) []string {
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return append(files, name)
		}
	}
	return files
}
