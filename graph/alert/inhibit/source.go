package inhibit

import (
	"cmp"
	"slices"
	"strings"
)

// Source is a source as it is saved.
type Source struct {
	Rule     string `json:"rule"`
	EqualKey string `json:"equal_key"`
	LastSeen int64  `json:"last_seen"` // Unix seconds
}

// Sources returns all sources, by rule and key.
func (x *Index) Sources() []Source { return x.Export().Sources() }

// View is the sources of an index at one moment. It never changes, and any goroutine may
// read it.
type View struct{ all []Source }

// Export returns the sources as they are now. It leaves the work of sorting to the reader.
func (x *Index) Export() *View {
	v := &View{make([]Source, 0, x.len)}
	for s := range x.recent.each {
		v.all = append(v.all, Source{s.table.name, s.key, s.lastSeen})
	}
	return v
}

// Sources returns the sources by rule and key, in a list of the caller's own.
func (v *View) Sources() []Source {
	all := slices.Clone(v.all)
	slices.SortFunc(all, func(a, b Source) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), strings.Compare(a.EqualKey, b.EqualKey))
	})
	return all
}

// Len is how many sources there are.
func (v *View) Len() int { return len(v.all) }

// Restore adds saved sources and returns how many it dropped: those whose rule is gone, and
// those that have outlived its duration at now.
func (x *Index) Restore(all []Source, now int64) (dropped int) {
	named := make(map[string]*table, len(x.rules))
	for _, e := range x.rules {
		named[e.Name] = e.table
	}
	for _, s := range slices.SortedStableFunc(slices.Values(all), func(a, b Source) int { return cmp.Compare(a.LastSeen, b.LastSeen) }) {
		t := named[s.Rule]
		if t == nil || outlived(s.LastSeen, t.duration, now) {
			dropped++
			continue
		}
		x.see(t, []byte(s.EqualKey), s.LastSeen)
	}
	return dropped
}
