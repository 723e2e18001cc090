package watch

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Watcher tells of changes of files. It watches directories, never files, so that it
// keeps seeing files that editors replace and volumes that swap a link.
type Watcher struct {
	notify  *fsnotify.Watcher
	log     *slog.Logger
	changed func(given []string, reason string)
	paths   func() []string
	done    sync.WaitGroup

	mu     sync.Mutex // guards the rest
	given  []string   // what paths returned last
	dirs   map[string]directory
	names  map[string][]string // given paths by the names that lead to them
	closed map[string]bool     // cannot be read
}

// swapLink is the link through which mounted volumes exchange all their files.
const swapLink = "..data"

// New watches the directories of YAML files and the single files that paths returns, until
// Close. Changed is called by one goroutine at a time, with those of the paths that a change
// concerns and a text that says what has changed. They are all of them where it is unknown.
func New(paths func() []string, changed func(given []string, reason string), log *slog.Logger) (*Watcher, error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &Watcher{notify: n, log: log, changed: changed, paths: paths, dirs: make(map[string]directory)}
	w.Update()
	w.done.Go(w.run)
	return w, nil
}

// Update watches what the paths resolve to now, and nothing else. It reports whether
// there is something to read that could not be read before.
func (w *Watcher) Update() (more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.given = w.paths()
	refused := make(map[string]bool)
	// A change before its directory was watched sent no event. A second look finds it.
	for again := true; again; {
		t := resolve(w.given)
		for path := range w.closed {
			more = more || !t.closed[path]
		}
		w.names, w.closed = t.names, t.closed
		for dir, was := range w.dirs {
			if is, wanted := t.dirs[dir]; !wanted || !os.SameFile(was.info, is.info) {
				w.drop(dir)
			}
		}
		again = false
		for dir, d := range t.dirs {
			_, watched := w.dirs[dir]
			if !watched && !refused[dir] {
				if err := w.notify.Add(dir); err != nil {
					w.log.Warn("directory is not watched", "path", dir, "err", err)
					refused[dir] = true
				} else {
					more = true
				}
				again = true
			}
			if !refused[dir] {
				w.dirs[dir] = d
			}
		}
	}
	return more
}

// UpdatePaths watches other paths when they have changed.
func (w *Watcher) UpdatePaths() {
	w.mu.Lock()
	changed := !slices.Equal(w.paths(), w.given)
	w.mu.Unlock()
	if changed {
		w.Update()
	}
}

func (w *Watcher) drop(dir string) {
	delete(w.dirs, dir)
	_ = w.notify.Remove(dir) // fails for a directory that was deleted
}

// forget stops watching a directory that was moved or deleted, and the directories
// below it. It reports whether the directory was watched.
func (w *Watcher) forget(dir string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.dirs[dir]; !known {
		return false
	}
	for watched := range w.dirs {
		if watched == dir || strings.HasPrefix(watched, dir+string(filepath.Separator)) {
			w.drop(watched)
		}
	}
	return true
}

func (w *Watcher) run() {
	for {
		select {
		case e, ok := <-w.notify.Events:
			if !ok {
				return
			}
			w.event(e)
		case err, ok := <-w.notify.Errors:
			if !ok {
				return
			}
			// Events were lost, so anything may have changed.
			w.log.Warn("file watch", "err", err)
			w.Update()
			w.mu.Lock()
			given := w.given
			w.mu.Unlock()
			w.changed(slices.Clone(given), "file watch")
		}
	}
}

func (w *Watcher) event(e fsnotify.Event) {
	path := filepath.Clean(e.Name)
	var before []string // before it is resolved again, and directories are forgotten
	if e.Has(fsnotify.Create | fsnotify.Remove | fsnotify.Rename) {
		before = w.concerned(path, nil)
	}
	switch {
	case e.Op == fsnotify.Chmod:
		w.permissions(path)
	case e.Has(fsnotify.Remove|fsnotify.Rename) && w.forget(path), e.Has(fsnotify.Create) && w.isNewDirectory(path):
		w.forget(path) // a directory of this name may have been watched before
		w.Update()
		w.changed(w.concerned(path, before), "directory "+path)
	case w.isName(path):
		if !e.Has(fsnotify.Write) {
			w.Update()
		}
		w.opened(path)
		w.changed(w.concerned(path, before), "file "+path)
	case w.isYAMLFile(path):
		w.opened(path)
		w.changed(w.concerned(path, before), "file "+path)
	}
}

// permissions asks whether a change of attributes has let us read more. What could be
// read before says the same as before.
func (w *Watcher) permissions(path string) {
	switch {
	case w.isDirectory(path):
		if w.Update() {
			w.changed(w.concerned(path, nil), "directory "+path)
		}
	case (w.isName(path) || w.isYAMLFile(path)) && w.opened(path):
		w.changed(w.concerned(path, nil), "file "+path)
	}
}

// concerned lists the given paths that a change of path concerns, and those of before.
func (w *Watcher) concerned(path string, before []string) (given []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := make(map[string]bool)
	add := func(paths []string) {
		for _, p := range paths {
			found[p] = true
		}
	}
	add(before)
	dir, at := filepath.Dir(path), path
	if filepath.Base(path) == swapLink {
		at = dir // everything in the volume is exchanged
	}
	for name, paths := range w.names {
		if within(name, at) {
			add(paths)
		}
	}
	add(w.dirs[dir].trees)
	for name, d := range w.dirs {
		if within(name, at) {
			add(d.trees)
		}
	}
	for _, p := range w.given {
		if found[p] {
			given = with(given, p)
		}
	}
	return given
}

// within reports whether a name is that of dir or lies below it.
func within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// isDirectory reports whether path is a directory that is watched, or would be if it
// could be read.
func (w *Watcher) isDirectory(path string) bool {
	w.mu.Lock()
	_, watched := w.dirs[path]
	closed := w.closed[path]
	w.mu.Unlock()
	return watched || closed && isDir(path)
}

// opened reports whether a file can be read that could not be, and notes how it is now.
func (w *Watcher) opened(path string) bool {
	now := readable(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	was := !w.closed[path]
	if now {
		delete(w.closed, path)
	} else {
		w.closed[path] = true
	}
	return now && !was
}

// isNewDirectory reports whether path is a directory that may hold watched files.
func (w *Watcher) isNewDirectory(path string) bool {
	w.mu.Lock()
	ours := w.names[path] != nil || len(w.dirs[filepath.Dir(path)].trees) > 0 && !hidden(path)
	w.mu.Unlock()
	return ours && isDir(path)
}

// isName reports whether a change of this name itself is a trigger.
func (w *Watcher) isName(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.names[path] != nil
}

// isYAMLFile reports whether a change of the name may change the YAML files of a
// directory.
func (w *Watcher) isYAMLFile(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return filepath.Base(path) == swapLink || len(w.dirs[filepath.Dir(path)].trees) > 0 && isYAML(path) && !hidden(path)
}

// Close ends the watching.
func (w *Watcher) Close() {
	_ = w.notify.Close()
	w.done.Wait()
}
