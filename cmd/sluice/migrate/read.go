package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"
)

// ErrUnreadable is wrapped by errors that are about what a pipeline holds.
var ErrUnreadable = errors.New("unreadable")

// unreadable is an error about what a pipeline holds.
type unreadable struct{ error }

// Is has it be ErrUnreadable.
func (unreadable) Is(target error) bool { return target == ErrUnreadable }

// Unwrap is the error itself.
func (u unreadable) Unwrap() error { return u.error }

// blockKey is the key of the block.
const blockKey = "sources"

// mergeTag is the tag of keys that merge a mapping into another.
const mergeTag = "!!merge"

// Pipeline is a file and the block of sources in it.
type Pipeline struct {
	Path string

	text    []byte
	mode    fs.FileMode
	root    *yaml.Node // the document
	at      int        // of the key of the block in the content of the mapping; -1: there is none
	sources []*yaml.Node
}

// Set is what is to be migrated.
type Set struct{ Pipelines []*Pipeline }

// Collect lists the files among paths and those of the directories among them, sorted,
// each once.
func Collect(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, unreadable{fmt.Errorf("cannot read pipeline file: %w", err)}
		}
		if !info.IsDir() {
			files = append(files, filepath.Clean(path))
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, unreadable{fmt.Errorf("cannot read pipeline directory: %w", err)}
		}
		for _, e := range entries {
			if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == ".yml" || ext == ".yaml") {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// Read reads pipelines. The error joins what is wrong with all of them.
func Read(paths []string) (*Set, error) {
	s := new(Set)
	var errs []error
	for _, path := range paths {
		p, err := readPipeline(path)
		if err != nil {
			errs = append(errs, unreadable{fmt.Errorf("%s: %w", path, err)})
			continue
		}
		s.Pipelines = append(s.Pipelines, p)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return s, s.repeated()
}

// repeated says which sources are declared twice.
func (s *Set) repeated() error {
	var errs []error
	first := make(map[string]string)
	for _, p := range s.Pipelines {
		for _, source := range p.sources {
			id := member(source, "id")
			if id == nil || id.Kind != yaml.ScalarNode {
				continue
			}
			if other, ok := first[id.Value]; ok {
				errs = append(errs, fmt.Errorf("source ID '%s' declared in both %s and %s", id.Value, other, p.Path))
				continue
			}
			first[id.Value] = p.Path
		}
	}
	return errors.Join(errs...)
}

// Count returns how many sources there are, and in how many pipelines.
func (s *Set) Count() (sources, pipelines int) {
	for _, p := range s.Pipelines {
		if n := len(p.sources); n > 0 {
			sources += n
			pipelines++
		}
	}
	return sources, pipelines
}

func readPipeline(path string) (*Pipeline, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no regular file")
	}
	p := &Pipeline{Path: path, mode: info.Mode().Perm(), at: -1}
	if p.text, err = os.ReadFile(path); err != nil {
		return nil, err
	}
	if p.root, err = parse(p.text); err != nil {
		return nil, err
	}
	return p, p.find()
}

// parse reads the one document of a text, whose content is a mapping.
func parse(text []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	root := new(yaml.Node)
	if err := d.Decode(root); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("holds more than one YAML document")
		}
		return nil, err
	}
	if len(root.Content) == 0 || root.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("pipeline YAML must be a mapping")
	}
	return root, nil
}

// find looks for the block.
func (p *Pipeline) find() error {
	content := p.root.Content[0].Content
	for i := 0; i+1 < len(content); i += 2 {
		key, value := content[i], content[i+1]
		if key.Kind != yaml.ScalarNode || key.Value != blockKey {
			continue
		}
		if p.at >= 0 {
			return fmt.Errorf("line %d: has a second key '%s'", key.Line, blockKey)
		}
		p.at = i
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if value.Kind == yaml.ScalarNode && value.Tag == "!!null" {
			continue
		}
		if value.Kind != yaml.SequenceNode {
			return fmt.Errorf("line %d: sources must be a sequence", key.Line)
		}
		for _, source := range value.Content {
			if target(source).Kind != yaml.MappingNode {
				return fmt.Errorf("line %d: source must be a mapping", source.Line)
			}
			p.sources = append(p.sources, source)
		}
	}
	return nil
}

// key is the key of the block.
func (p *Pipeline) key() *yaml.Node { return p.root.Content[0].Content[p.at] }

// value is the block.
func (p *Pipeline) value() *yaml.Node { return p.root.Content[0].Content[p.at+1] }

// target is what a node stands for.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// member is a member of a mapping, those that it merges into itself included.
func member(n *yaml.Node, name string) *yaml.Node { return memberWithin(n, name, 10) }

func memberWithin(n *yaml.Node, name string, depth int) *yaml.Node {
	n = target(n)
	if n.Kind != yaml.MappingNode || depth == 0 {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return target(n.Content[i+1])
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag != mergeTag {
			continue
		}
		merged := []*yaml.Node{target(n.Content[i+1])}
		if merged[0].Kind == yaml.SequenceNode {
			merged = merged[0].Content
		}
		for _, m := range merged {
			if v := memberWithin(m, name, depth-1); v != nil {
				return v
			}
		}
	}
	return nil
}
