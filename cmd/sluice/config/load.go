package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/suggest"
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
	File       string `json:"file"` // or the variable
	Line       int    `json:"line,omitempty"`
	Key        string `json:"key"`
	Suggestion string `json:"suggestion,omitempty"`
}

// Problem is the unknown key in the form that everything else has.
func (k UnknownKey) Problem() Problem {
	return Problem{Key: k.Key, File: k.File, Line: k.Line, Message: "unknown config key", Suggestion: k.Suggestion}
}

// Loaded is the merged configuration and what is known about its making.
type Loaded struct {
	Config      *Config
	Files       []string  // that were read, lowest precedence first
	Warnings    []Problem // unknown keys are no part of it
	UnknownKeys []UnknownKey

	section string
	root    *field
	sources map[string]origin
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
	root := tree()
	m := newMerged(root)
	out := &Loaded{Config: m.config, Files: files, section: o.Section, root: root, sources: m.sources}
	var problems Problems
	for _, name := range files {
		l := out.readFile(name)
		problems = append(problems, l.problems...)
		m.apply(l)
	}
	for _, l := range out.readEnviron(o.Environ) {
		m.apply(l)
	}
	flags := out.readFlags(o.Flags)
	m.apply(flags)
	return out, append(problems, flags.problems...).orNil()
}

func (l *Loaded) readFile(name string) *layer {
	read := &layer{kind: LayerFile, name: name}
	data, err := os.ReadFile(name)
	if err != nil {
		read.problems = []Problem{{File: name, Message: fmt.Sprintf("read config: %v", err)}}
		return read
	}
	if !read.parseYAML(l.root, data) {
		l.warn(Problem{File: name, Message: "only the first document is read"})
	}
	for _, s := range read.settings {
		if s.path() == "version" && s.value.Int() > Version {
			err := fmt.Errorf("%d was written for a newer release, this one reads up to %d", s.value.Int(), Version)
			read.fault(&yaml.Node{Line: s.line}, s.path(), err)
		}
	}
	for i := range read.problems {
		read.problems[i].File = name
	}
	l.note(read)
	return read
}

func (l *Loaded) warn(p Problem) { l.Warnings = append(l.Warnings, p) }

// note records the unknown keys of a layer and drops the two settings for which
// a wrong word is no reason to stop.
func (l *Loaded) note(read *layer) {
	for _, p := range read.unknown {
		if read.kind == LayerEnv {
			p.Line = 0
		}
		l.UnknownKeys = append(l.UnknownKeys, UnknownKey{File: read.name, Line: p.Line, Key: p.Key, Suggestion: p.Suggestion})
	}
	read.settings = slices.DeleteFunc(read.settings, func(s setting) bool {
		if p := s.path(); p != "global.output_format" && p != "global.color" {
			return false
		}
		err := s.field.allows(s.value.String())
		if err != nil {
			o := origin{file: read.name, line: s.line}
			if read.kind == LayerEnv {
				o.line = 0
			}
			l.warn(Problem{Key: s.path(), File: o.file, Line: o.line, Message: err.Error() + " and is ignored", Suggestion: suggest.Text(s.value.String(), s.field.words)})
		}
		return err != nil
	})
}

// UnknownKeyTexts warns of the unknown keys, each on a line.
func (l *Loaded) UnknownKeyTexts() []string {
	var lines []string
	for _, k := range l.UnknownKeys {
		text := fmt.Sprintf("unknown config key '%s' in %s", k.Key, k.File)
		if k.Line > 0 {
			text += fmt.Sprintf(":%d", k.Line)
		}
		if k.Suggestion != "" {
			text += " (" + k.Suggestion + ")"
		}
		lines = append(lines, text)
	}
	return lines
}

// Notices are the warnings of the load, each on a line.
func (l *Loaded) Notices() []string {
	lines := l.UnknownKeyTexts()
	for _, w := range l.Warnings {
		lines = append(lines, w.Error())
	}
	return lines
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
