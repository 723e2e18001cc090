package daemon

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// watchlist is what has to be watched to see every change of some paths. Every name
// in it is real: no link is on the way to it.
type watchlist struct {
	dirs map[string]place
	// names are looked out for in the directories that hold them: files, links that
	// lead somewhere, and what is missing and may come.
	names map[string]bool
}

// place is a directory to watch.
type place struct {
	info  os.FileInfo // of the directory as it was found
	rules bool        // rule files in it are loaded
}

// maxLinks is how many links may lead from one to the next; as many as the system
// follows.
const maxLinks = 40

// newWatchlist finds out what to watch for rule roots and single files.
func newWatchlist(paths []string) *watchlist {
	l := &watchlist{dirs: make(map[string]place), names: make(map[string]bool)}
	for _, path := range paths {
		real, ok := l.way(path)
		if !ok {
			continue
		}
		if info, err := os.Stat(real); err == nil && info.IsDir() {
			l.tree(real)
		} else if isYAML(path) {
			l.name(filepath.Dir(real), filepath.Base(real))
		}
	}
	return l
}

// way follows a path to where it really leads. What would lead it elsewhere when it
// were replaced, each link on the way and the first name that is missing, is looked
// out for.
func (l *watchlist) way(path string) (real string, ok bool) {
	at, rest := components(path)
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
			l.name(at, name)
			return "", false
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		l.name(at, name)
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return "", false
		}
		root, names := components(target)
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

// components cuts a path into where it begins, when it is absolute, and the names
// behind that.
func components(path string) (root string, names []string) {
	volume := filepath.VolumeName(path)
	separator := string(filepath.Separator)
	return volume + separator, strings.Split(filepath.FromSlash(path[len(volume):]), separator)
}

// name looks out for a name in a directory.
func (l *watchlist) name(dir, name string) {
	l.names[filepath.Join(dir, name)] = true
	if _, known := l.dirs[dir]; !known {
		if info, err := os.Stat(dir); err == nil {
			l.dirs[dir] = place{info: info}
		}
	}
}

// tree takes a directory and those below it, also those that links lead to, as
// loading does.
func (l *watchlist) tree(dir string) {
	info, err := os.Stat(dir)
	if err != nil || l.dirs[dir].rules {
		return
	}
	l.dirs[dir] = place{info: info, rules: true}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case hidden(path):
		case e.IsDir():
			l.tree(path)
		case e.Type()&fs.ModeSymlink != 0:
			l.link(path)
		}
	}
}

// link takes what a link below a root leads to, when that is a directory or is
// missing. What files lead to is up to whoever keeps them there.
func (l *watchlist) link(path string) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return
	}
	if real, ok := l.way(path); ok {
		l.tree(real)
	}
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
