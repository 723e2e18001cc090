package sources

import (
	"os"
	"slices"

	"github.com/sluicehq/sluice/internal/watch"
	"github.com/sluicehq/sluice/sources/fetch"
)

// watch tells the actor of changes of files.
func (s *Stage) watch() {
	var watched []*entry
	var paths []string
	for _, e := range s.book.entries {
		if e.Refresh.Policy == fetch.Watch {
			watched, paths = append(watched, e), append(paths, e.Path)
		}
	}
	if len(paths) == 0 {
		return
	}
	w, err := watch.New(func() []string { return paths }, func(changed []string, _ string) {
		if there := concerned(watched, changed); len(there) > 0 {
			s.tell(noticed{there})
		}
	}, s.log)
	if err != nil {
		s.log.Warn("files of sources are not watched: they are read by requests and reloads only", "err", err)
		return
	}
	s.watcher = w
}

// concerned lists the sources whose files are among the changed ones, and are there.
func concerned(watched []*entry, changed []string) (there []*entry) {
	for _, e := range watched {
		if !slices.Contains(changed, e.Path) {
			continue
		}
		if _, err := os.Stat(e.Path); err == nil { // the removal of a file does not start a fetch
			there = append(there, e)
		}
	}
	return there
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
			continue // the removal of a file does not start a fetch
		}
		if before == nil || !os.SameFile(before, now) || before.Size() != now.Size() || !before.ModTime().Equal(now.ModTime()) {
			all = append(all, e)
		}
	}
	return all
}
