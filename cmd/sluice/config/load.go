package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// UnknownKey is a key of a file that the tree does not have.
type UnknownKey struct {
	File string `json:"file"`
	Key  string `json:"key"`
}

// Loaded is the merged configuration and what is known about its making.
type Loaded struct {
	Config      *Config
	Files       []string // that were read, lowest precedence first
	Warnings    []string
	UnknownKeys []UnknownKey

	section string
	root    *field
	sources map[string]Layer
}

// Load finds the files, merges every layer and returns the result. Values are
// of the right type but not yet checked: see Check.
func Load(o Options) (*Loaded, error) {
	files, err := o.discover()
	if err != nil {
		return nil, err
	}
	root := tree()
	m := newMerged(root)
	out := &Loaded{Config: m.config, Files: files, section: o.Section, root: root, sources: m.sources}
	for _, name := range files {
		l, err := out.readFile(name)
		if err != nil {
			return nil, err
		}
		m.apply(l)
	}
	for _, l := range out.readEnviron(o.Environ) {
		m.apply(l)
	}
	flags, err := out.readFlags(o.Flags)
	if err != nil {
		return nil, err
	}
	m.apply(flags)
	return out, nil
}

func (l *Loaded) readFile(name string) (*layer, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	read, single, err := parseYAML(l.root, LayerFile, name, data)
	if err != nil {
		return nil, fmt.Errorf("config file %s: %w", name, err)
	}
	if !single {
		l.Warnings = append(l.Warnings, fmt.Sprintf("only the first document of %s is read", name))
	}
	for _, s := range read.settings {
		if s.path() == "version" && s.value.Int() > Version {
			return nil, fmt.Errorf("config file %s: version %d was written for a newer release, this one reads up to %d",
				name, s.value.Int(), Version)
		}
	}
	l.note(read)
	return read, nil
}

// note records the unknown keys of a layer and drops the two settings for which
// a wrong word is no reason to stop.
func (l *Loaded) note(read *layer) {
	l.Warnings = append(l.Warnings, read.warnUnknown()...)
	for _, key := range read.unknown {
		l.UnknownKeys = append(l.UnknownKeys, UnknownKey{File: read.origin, Key: key})
	}
	read.settings = slices.DeleteFunc(read.settings, func(s setting) bool {
		if p := s.path(); p != "global.output_format" && p != "global.color" {
			return false
		}
		if slices.Contains(s.field.words, s.value.String()) {
			return false
		}
		l.Warnings = append(l.Warnings, fmt.Sprintf("%s: %q in %s is ignored (allowed: %s)",
			s.path(), s.value.String(), read.origin, list(s.field.words)))
		return true
	})
}

// discover returns the files to read, lowest precedence first.
func (o Options) discover() ([]string, error) {
	if o.File != "" {
		info, err := os.Stat(o.File)
		if err != nil {
			return nil, fmt.Errorf("read config: %w", err)
		}
		if info.IsDir() {
			return nil, fmt.Errorf("read config: %s is a directory", o.File)
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("read config: %s is no regular file", o.File)
		}
		return []string{o.File}, nil
	}
	system := o.SystemDir
	if system == "" {
		system = "/etc/sluice"
	}
	files := firstRegular(nil, filepath.Join(system, "config.yaml"), filepath.Join(system, "config.yml"))
	if dir := o.userDir(); dir != "" {
		files = firstRegular(files, filepath.Join(dir, "config.yaml"), filepath.Join(dir, "config.yml"))
	}
	wd, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, errors.New("read config: the working directory is gone")
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if n := len(files); len(firstRegular(files, filepath.Join(dir, ".sluicerc"))) > n {
			files = append(files, filepath.Join(dir, ".sluicerc"))
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return firstRegular(files, o.local("sluice.yaml"), o.local("sluice.yml")), nil
}

// local names a file of the working directory the way the operator would.
func (o Options) local(name string) string {
	if o.Dir == "" {
		return "./" + name
	}
	return filepath.Join(o.Dir, name)
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
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:]
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
