package load

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Source is one file to read, or one that could not be found out about.
type Source struct {
	name string // of the file towards users
	path string
	real string // path without links
	err  error
}

// Find lists the rule files below roots in load order, each once, with those that
// cannot be read among them. The error is that of the first root that is missing
// or unreadable, or that of ctx, which is looked at before each file.
func Find(ctx context.Context, roots []string) ([]Source, error) {
	w := walker{prefix: len(roots) > 1, files: make(map[string]bool)}
	for _, root := range roots {
		if err := w.root(ctx, root); err != nil {
			return nil, fmt.Errorf("read rules %s: %w", root, reason(err))
		}
	}
	if err := ctx.Err(); err != nil { // what is below a directory may be missing
		return nil, err
	}
	return w.found, nil
}

// walker remembers directories by device and inode, so that links cannot lead it
// round in circles, and files by their real path, so that overlapping roots give
// each once.
type walker struct {
	prefix bool
	dirs   []os.FileInfo // of the current root
	files  map[string]bool
	below  []Source // of the current root
	found  []Source
}

func (w *walker) root(ctx context.Context, root string) error {
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	if real, err = filepath.Abs(real); err != nil {
		return err
	}
	if !info.IsDir() {
		if !info.Mode().IsRegular() {
			return errIrregular
		}
		f, err := os.Open(root)
		if err != nil {
			return err
		}
		name := filepath.Base(root)
		if w.prefix {
			name = root
		}
		w.add(Source{name: filepath.ToSlash(name), path: root, real: real})
		return f.Close()
	}
	w.dirs, w.below = nil, nil
	if err := w.dir(ctx, Source{path: root, real: real}, info); err != nil {
		return err
	}
	slices.SortFunc(w.below, func(a, b Source) int { return strings.Compare(a.name, b.name) })
	for _, s := range w.below {
		if w.prefix {
			s.name = strings.TrimSuffix(filepath.ToSlash(root), "/") + "/" + s.name
		}
		w.add(s)
	}
	return nil
}

// dir collects the files below d, whose name is relative to the root.
func (w *walker) dir(ctx context.Context, d Source, info os.FileInfo) error {
	if slices.ContainsFunc(w.dirs, func(seen os.FileInfo) bool { return os.SameFile(seen, info) }) {
		return nil
	}
	w.dirs = append(w.dirs, info)
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !strings.HasPrefix(e.Name(), ".") {
			w.entry(ctx, d, e)
		}
	}
	return nil
}

func (w *walker) entry(ctx context.Context, d Source, e fs.DirEntry) {
	s := Source{name: e.Name(), path: filepath.Join(d.path, e.Name()), real: filepath.Join(d.real, e.Name())}
	if d.name != "" {
		s.name = d.name + "/" + s.name
	}
	isDir, regular := e.IsDir(), e.Type().IsRegular()
	var info os.FileInfo
	var err error
	if isDir || e.Type()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(s.path); err == nil {
			isDir, regular = info.IsDir(), info.Mode().IsRegular()
		}
		if err == nil && !e.IsDir() {
			s.real, err = filepath.EvalSymlinks(s.real)
		}
		if err == nil && isDir {
			err = w.dir(ctx, s, info)
		}
		if s.err = reason(err); err != nil && (isDir || isRuleFile(e.Name())) {
			w.below = append(w.below, s)
			return
		}
	}
	if !isDir && isRuleFile(e.Name()) {
		if !regular { // reading a pipe or a device may never end
			s.err = errIrregular
		}
		w.below = append(w.below, s)
	}
}

var errIrregular = errors.New("neither a regular file nor a directory")

func (w *walker) add(s Source) {
	if !w.files[s.real] {
		w.files[s.real] = true
		w.found = append(w.found, s)
	}
}

func isRuleFile(name string) bool {
	return strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml")
}

// reason takes the path out of an error of package os: the caller names it.
func reason(err error) error {
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
