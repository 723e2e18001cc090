package load

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Load reads the files below roots, in the order given. The error is fatal: a
// root that is missing or unreadable, options that do not parse, or that of ctx,
// which is looked at before each file.
func Load(ctx context.Context, roots []string, o Options) (*Collection, error) {
	found, err := Find(ctx, roots)
	if err != nil {
		return nil, err
	}
	docs, err := Read(ctx, found, o, nil)
	if err != nil {
		return nil, err
	}
	return docs.Collect(o), nil
}

// FromFS reads the rule files of a file system as Load reads one root.
func FromFS(fsys fs.FS, o Options) (*Collection, error) {
	p, err := newParser(&o)
	if err != nil {
		return nil, err
	}
	var names []string
	var docs Documents
	err = fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			docs.files = append(docs.files, unreadable(File{Name: name}, reason(err)))
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
		if data, err := fs.ReadFile(fsys, name); err != nil {
			docs.files = append(docs.files, unreadable(File{Name: name}, reason(err)))
		} else {
			docs.files = append(docs.files, p.whole(File{Name: name}, data))
		}
	}
	return docs.Collect(o), nil
}

// FromBytes reads one file's content. Options that do not parse are rejected
// like an unreadable file.
func FromBytes(name string, data []byte, o Options) *Collection {
	p, err := newParser(&o)
	if err != nil {
		docs := Documents{files: []*file{unreadable(File{Name: name}, err)}}
		return docs.Collect(Options{})
	}
	docs := Documents{files: []*file{p.whole(File{Name: name}, data)}}
	return docs.Collect(o)
}

// whole reads a file from its content.
func (p *parser) whole(f File, data []byte) *file {
	f.SHA256 = sha256.Sum256(data)
	return p.file(f, data)
}

// unreadable stands for a file that cannot be read.
func unreadable(f File, err error) *file {
	f.Missing = true
	d := newFault(f.Name, 0, sha256.Sum256(nil))
	d.fail(0, "unreadable: %v", err)
	return &file{File: f, docs: []parsed{d.parsed}}
}
