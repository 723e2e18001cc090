package reload

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// watcher turns changes of files into triggers. It watches directories, never
// files, so that it keeps seeing files that editors replace and volumes that swap
// a link.
type watcher struct {
	notify  *fsnotify.Watcher
	log     *slog.Logger
	trigger func(from Origin, reason string)
	paths   func() []string
	done    sync.WaitGroup

	mu     sync.Mutex // guards the rest
	given  []string   // what paths returned last
	dirs   map[string]directory
	names  map[string]bool
	closed map[string]bool // cannot be read
}

// swapLink is the link through which mounted volumes exchange all their files.
const swapLink = "..data"

// watch starts to watch directories of rules and single files.
func watch(paths func() []string, trigger func(Origin, string), log *slog.Logger) (*watcher, error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watcher{notify: n, log: log, trigger: trigger, paths: paths, dirs: make(map[string]directory)}
	w.update()
	w.done.Go(w.run)
	return w, nil
}

// update watches what the paths resolve to now, and nothing else. It reports whether
// there is something to read that could not be read before.
func (w *watcher) update() (more bool) {
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

// updatePaths watches other paths when a pass has changed them.
func (w *watcher) updatePaths() {
	w.mu.Lock()
	changed := !slices.Equal(w.paths(), w.given)
	w.mu.Unlock()
	if changed {
		w.update()
	}
}

func (w *watcher) drop(dir string) {
	delete(w.dirs, dir)
	_ = w.notify.Remove(dir) // fails for a directory that was deleted
}

// forget stops watching a directory that was moved or deleted, and the directories
// below it. It reports whether the directory was watched.
func (w *watcher) forget(dir string) bool {
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

func (w *watcher) run() {
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
			w.update()
			w.trigger(File, "file watch")
		}
	}
}

func (w *watcher) event(e fsnotify.Event) {
	path := filepath.Clean(e.Name)
	switch {
	case e.Op == fsnotify.Chmod:
		w.permissions(path)
	case e.Has(fsnotify.Remove|fsnotify.Rename) && w.forget(path), e.Has(fsnotify.Create) && w.isNewDirectory(path):
		w.forget(path) // a directory of this name may have been watched before
		w.update()
		w.trigger(File, "directory "+path)
	case w.isName(path):
		if !e.Has(fsnotify.Write) {
			w.update()
		}
		w.opened(path)
		w.trigger(File, "file "+path)
	case w.isRuleFile(path):
		w.opened(path)
		w.trigger(File, "file "+path)
	}
}

// permissions asks whether a change of attributes has let us read more. What could be
// read before says the same as before.
func (w *watcher) permissions(path string) {
	switch {
	case w.isDirectory(path):
		if w.update() {
			w.trigger(File, "directory "+path)
		}
	case (w.isName(path) || w.isRuleFile(path)) && w.opened(path):
		w.trigger(File, "file "+path)
	}
}

// isDirectory reports whether path is a directory that is watched, or would be if it
// could be read.
func (w *watcher) isDirectory(path string) bool {
	w.mu.Lock()
	_, watched := w.dirs[path]
	closed := w.closed[path]
	w.mu.Unlock()
	return watched || closed && isDir(path)
}

// opened reports whether a file can be read that could not be, and notes how it is now.
func (w *watcher) opened(path string) bool {
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
func (w *watcher) isNewDirectory(path string) bool {
	w.mu.Lock()
	ours := w.names[path] || w.dirs[filepath.Dir(path)].rules && !hidden(path)
	w.mu.Unlock()
	return ours && isDir(path)
}

// isName reports whether a change of this name itself is a trigger.
func (w *watcher) isName(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.names[path]
}

// isRuleFile reports whether a change of the name may change what a directory
// holds.
func (w *watcher) isRuleFile(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return filepath.Base(path) == swapLink || w.dirs[filepath.Dir(path)].rules && isYAML(path) && !hidden(path)
}

// close ends the watching.
func (w *watcher) close() {
	_ = w.notify.Close()
	w.done.Wait()
}
