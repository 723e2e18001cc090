package inhibit

import (
	"cmp"
	"slices"
)

// Source is a source as it is saved.
type Source struct {
	Rule     string `json:"rule"`
	EqualKey string `json:"equal_key"`
	LastSeen int64  `json:"last_seen"` // Unix seconds
}

// Sources returns all sources, by rule and key.
func (x *Index) Sources() []Source {
	all := make([]Source, 0, x.len)
	for s := range x.recent.each {
		all = append(all, Source{s.table.name, s.key, s.lastSeen})
	}
	slices.SortFunc(all, func(a, b Source) int { return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.EqualKey, b.EqualKey)) })
	return all
}

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
