package daemon

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// watcher turns changes of files into triggers. It watches directories, never
// files, so that editors that replace a file and volumes that swap a link keep
// being seen.
type watcher struct {
	notify  *fsnotify.Watcher
	log     *slog.Logger
	trigger func(reason string)
	paths   []string
	done    sync.WaitGroup

	mu    sync.Mutex       // guards the rest
	dirs  map[string]place // that are watched
	names map[string]bool  // that are looked out for in them
}

// swapLink is the link through which mounted volumes exchange all their files.
const swapLink = "..data"

// watch starts watching rule roots and single files.
func watch(paths []string, trigger func(string), log *slog.Logger) (*watcher, error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watcher{notify: n, log: log, trigger: trigger, paths: paths, dirs: make(map[string]place)}
	w.sync()
	w.done.Go(w.run)
	return w, nil
}

// sync watches what the paths lead to now, and nothing else.
func (w *watcher) sync() {
	w.mu.Lock()
	defer w.mu.Unlock()
	refused := make(map[string]bool)
	// What changes before its directory is watched is seen by looking again.
	for again := true; again; {
		l := newWatchlist(w.paths)
		w.names = l.names
		for dir, was := range w.dirs {
			if is, wanted := l.dirs[dir]; !wanted || !os.SameFile(was.info, is.info) {
				w.drop(dir)
			}
		}
		again = false
		for dir, p := range l.dirs {
			_, watched := w.dirs[dir]
			if !watched && !refused[dir] {
				if err := w.notify.Add(dir); err != nil {
					w.log.Warn("directory is not watched", "path", dir, "err", err)
					refused[dir] = true
				}
				again = true
			}
			if !refused[dir] {
				w.dirs[dir] = p
			}
		}
	}
}

func (w *watcher) drop(dir string) {
	delete(w.dirs, dir)
	_ = w.notify.Remove(dir) // what was deleted is not watched any more
}

// forget ends the watching of a directory that is no longer where it was, and of
// those below it. It reports whether the name was one.
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
			w.sync()
			w.trigger("file watch")
		}
	}
}

func (w *watcher) event(e fsnotify.Event) {
	if e.Op == fsnotify.Chmod {
		return
	}
	switch path := filepath.Clean(e.Name); {
	case e.Has(fsnotify.Remove|fsnotify.Rename) && w.forget(path), e.Has(fsnotify.Create) && w.leads(path):
		w.forget(path) // it may stand where another one was
		w.sync()
		w.trigger("directory " + path)
	case w.lookedOutFor(path):
		if !e.Has(fsnotify.Write) {
			w.sync()
		}
		w.trigger("file " + path)
	case w.relevant(path):
		w.trigger("file " + path)
	}
}

// leads reports whether there is a directory now that may hold what is loaded.
func (w *watcher) leads(path string) bool {
	w.mu.Lock()
	ours := w.names[path] || w.dirs[filepath.Dir(path)].rules && !hidden(path)
	w.mu.Unlock()
	return ours && isDir(path)
}

// lookedOutFor reports whether the name itself is of interest.
func (w *watcher) lookedOutFor(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.names[path]
}

// relevant reports whether a change of the name may change the rules of a directory.
func (w *watcher) relevant(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return filepath.Base(path) == swapLink || w.dirs[filepath.Dir(path)].rules && isYAML(path) && !hidden(path)
}

// close ends the watching.
func (w *watcher) close() {
	_ = w.notify.Close()
	w.done.Wait()
}
