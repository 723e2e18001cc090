package sources

import (
	"os"
	"strings"

	"github.com/sluicehq/sluice/internal/watch"
	"github.com/sluicehq/sluice/sources/fetch"
)

// files are the sources whose files are watched. Only the goroutine that watches touches
// them once it runs.
type files struct {
	entries []*entry
	leading []map[string]bool // by place in entries: names that lead to the file
}

// watch tells the actor of changes of files.
func (s *Stage) watch() {
	f := &s.files
	var paths []string
	for _, e := range s.book.entries {
		if e.Refresh.Policy == fetch.Watch {
			f.entries, f.leading = append(f.entries, e), append(f.leading, watch.Leading(e.Path))
			paths = append(paths, e.Path)
		}
	}
	if len(paths) == 0 {
		return
	}
	w, err := watch.New(func() []string { return paths }, func(path, _ string) {
		if there := f.concerned(path); len(there) > 0 {
			s.tell(noticed{there})
		}
	}, s.log)
	if err != nil {
		s.log.Warn("files of sources are not watched: they are read by requests and reloads only", "err", err)
		return
	}
	s.watcher = w
}

// concerned lists the sources whose files a change of path may concern, and are there. An
// empty path concerns all.
func (f *files) concerned(path string) (there []*entry) {
	for i, e := range f.entries {
		before := f.leading[i]
		f.leading[i] = watch.Leading(e.Path)
		if path != "" && !leads(before, path) && !leads(f.leading[i], path) {
			continue
		}
		if _, err := os.Stat(e.Path); err == nil { // the removal of a file says nothing
			there = append(there, e)
		}
	}
	return there
}

// leads reports whether a change of path may change where names lead.
func leads(names map[string]bool, path string) bool {
	for name := range names {
		if name == path || strings.HasPrefix(name, path+string(os.PathSeparator)) {
			return true
		}
	}
	return false
}

// stamps are what the system told of watched files at one moment, nil for one that is not
// there.
type stamps map[*entry]os.FileInfo

func stampsOf(all []*entry) stamps {
	s := make(stamps)
	for _, e := range all {
		if e.Refresh.Policy == fetch.Watch {
			s[e], _ = os.Stat(e.Path)
		}
	}
	return s
}

// changed lists the sources whose files are there and are not what they were.
func (s stamps) changed() (all []*entry) {
	for e, before := range s {
		now, err := os.Stat(e.Path)
		if err != nil {
			continue // the removal of a file says nothing
		}
		if before == nil || !os.SameFile(before, now) || before.Size() != now.Size() || !before.ModTime().Equal(now.ModTime()) {
			all = append(all, e)
		}
	}
	return all
}
