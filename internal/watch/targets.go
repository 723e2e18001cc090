package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// targets are the directories and names to watch in order to see every change of
// some paths. Every path in it is free of links.
type targets struct {
	dirs map[string]directory
	// names are watched in the directories that hold them: files, links, and names
	// that are missing and may appear. By name the given paths that it leads to.
	names map[string][]string
	// closed are files and directories among them that cannot be read: more
	// permissions are a change of these.
	closed map[string]bool
	given  string // the path that is being resolved
}

// directory is a directory to watch.
type directory struct {
	info  os.FileInfo // identifies the directory when another takes its name
	trees []string    // given directories that its YAML files belong to
}

// maxLinks bounds a chain of links, as Linux does.
const maxLinks = 40

// resolve finds what to watch for directories of YAML files and for single files.
func resolve(paths []string) *targets {
	t := &targets{dirs: make(map[string]directory), names: make(map[string][]string), closed: make(map[string]bool)}
	for _, path := range paths {
		t.given = path
		real, ok := t.follow(path)
		if !ok {
			continue
		}
		if info, err := os.Stat(real); err == nil && info.IsDir() {
			t.addTree(real)
		} else {
			t.addName(filepath.Dir(real), filepath.Base(real))
			t.look(real)
		}
	}
	return t
}

// follow resolves the links of a path. It adds every name whose replacement would
// change the result: each link, and the first name that is missing.
func (t *targets) follow(path string) (real string, ok bool) {
	at, rest := split(path)
	if !filepath.IsAbs(path) {
		if at, ok = workingDirectory(); !ok {
			return "", false
		}
	}
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if err != nil {
			t.addName(at, name)
			return "", false
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		t.addName(at, name)
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return "", false
		}
		root, names := split(target)
		if filepath.IsAbs(target) {
			at = root
		}
		rest = append(names, rest...)
	}
	return at, true
}

func workingDirectory() (real string, ok bool) {
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	return dir, err == nil
}

// split cuts a path into its root, for an absolute path, and its names.
func split(path string) (root string, names []string) {
	volume := filepath.VolumeName(path)
	separator := string(filepath.Separator)
	return volume + separator, strings.Split(filepath.FromSlash(path[len(volume):]), separator)
}

// addName watches for a name in a directory.
func (t *targets) addName(dir, name string) {
	path := filepath.Join(dir, name)
	t.names[path] = with(t.names[path], t.given)
	if _, known := t.dirs[dir]; !known {
		if info, err := os.Stat(dir); err == nil {
			t.dirs[dir] = directory{info: info}
		}
	}
}

// addTree adds a directory and the directories below it. It follows links to
// directories, as loading does.
func (t *targets) addTree(dir string) {
	info, err := os.Stat(dir)
	known := t.dirs[dir].trees
	if err != nil || slices.Contains(known, t.given) {
		return
	}
	t.dirs[dir] = directory{info: info, trees: with(known, t.given)}
	entries, err := os.ReadDir(dir)
	if err != nil || !readable(dir) {
		t.closed[dir] = true
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case hidden(path):
		case e.IsDir():
			t.addTree(path)
		case e.Type()&fs.ModeSymlink != 0:
			t.addLink(path)
		case isYAML(path):
			t.look(path)
		}
	}
}

// addLink adds the target of a link below a root that is a directory or is missing.
// Targets of links to single files are not watched.
func (t *targets) addLink(path string) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return
	}
	if real, ok := t.follow(path); ok {
		t.addTree(real)
	}
}

// look notes a file that cannot be read.
func (t *targets) look(path string) {
	if !readable(path) {
		t.closed[path] = true
	}
}

// readable reports whether a file or directory can be read. One that is missing has no
// permissions to wait for, and a pipe is never opened, since that may wait for ever. Tests
// that may read everything have another one.
var readable = func(path string) bool {
	info, err := os.Stat(path)
	if err == nil && (info.IsDir() || info.Mode().IsRegular()) {
		var f *os.File
		if f, err = os.Open(path); err == nil {
			_ = f.Close()
		}
	}
	return !errors.Is(err, fs.ErrPermission)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func hidden(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

func isYAML(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".yml" || ext == ".yaml"
}

// with is a list that has an element once. It shares no memory with list.
func with(list []string, one string) []string {
	if slices.Contains(list, one) {
		return list
	}
	return append(slices.Clip(list), one)
}
