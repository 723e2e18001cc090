package daemon

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
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
	roots   []string // directories are watched with all below them
	files   []string // watched by name in their directory
	done    sync.WaitGroup

	mu   sync.Mutex      // guards dirs
	dirs map[string]bool // watched directories, to know one by its name when it is gone
}

// swapLink is the link through which mounted volumes exchange all their files.
const swapLink = "..data"

// watch starts watching rule roots and single files.
func watch(roots, files []string, trigger func(string), log *slog.Logger) (*watcher, error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watcher{notify: n, log: log, trigger: trigger, dirs: make(map[string]bool)}
	for _, path := range append(append([]string(nil), roots...), files...) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			w.roots = append(w.roots, filepath.Clean(path))
		} else {
			w.files = append(w.files, filepath.Clean(path))
		}
	}
	w.sync()
	w.done.Go(w.run)
	return w, nil
}

// sync adds what is not watched yet: directories that appeared, and those
// that links lead to.
func (w *watcher) sync() {
	for _, f := range w.files {
		w.add(filepath.Dir(f))
	}
	for _, root := range w.roots {
		w.add(root)
		seen := map[string]bool{}
		w.tree(root, seen)
	}
}

// tree adds dir and the directories below it. Links to directories are followed
// once.
func (w *watcher) tree(dir string, seen map[string]bool) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || seen[real] {
		return
	}
	seen[real] = true
	w.add(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			w.tree(path, seen)
		} else if e.Type()&fs.ModeSymlink != 0 {
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				w.tree(path, seen)
			}
		}
	}
}

func (w *watcher) add(dir string) {
	if err := w.notify.Add(dir); err != nil {
		w.log.Warn("directory is not watched", "path", dir, "err", err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirs[dir] = true
}

// forget ends the watching of a directory that is no longer where it was, and of
// those below it. It reports whether the name was one.
func (w *watcher) forget(dir string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.dirs[dir] {
		return false
	}
	for watched := range w.dirs {
		if watched == dir || strings.HasPrefix(watched, dir+string(filepath.Separator)) {
			delete(w.dirs, watched)
			_ = w.notify.Remove(watched) // what was deleted is not watched any more
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
			w.trigger("file watch")
		}
	}
}

func (w *watcher) event(e fsnotify.Event) {
	if e.Op == fsnotify.Chmod {
		return
	}
	name := filepath.Clean(e.Name)
	if e.Has(fsnotify.Remove|fsnotify.Rename) && w.forget(name) {
		w.trigger("directory " + name)
		return
	}
	if e.Has(fsnotify.Create) && w.below(name) {
		if info, err := os.Stat(name); err == nil && info.IsDir() && !strings.HasPrefix(filepath.Base(name), ".") {
			w.forget(name) // it may stand where another one was
			w.sync()
			w.trigger("directory " + name)
			return
		}
	}
	if w.relevant(name) {
		w.trigger("file " + name)
	}
}

// relevant reports whether a change of the name may change what is loaded.
func (w *watcher) relevant(name string) bool {
	base := filepath.Base(name)
	if base == swapLink {
		return true
	}
	if ext := filepath.Ext(base); ext != ".yml" && ext != ".yaml" {
		return false
	}
	return slices.Contains(w.files, name) || w.below(name) && !strings.HasPrefix(base, ".")
}

func (w *watcher) below(name string) bool {
	for _, root := range w.roots {
		if root == "." && !filepath.IsAbs(name) {
			return true
		}
		if strings.HasPrefix(name, root+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// close ends the watching.
func (w *watcher) close() {
	_ = w.notify.Close()
	w.done.Wait()
}
