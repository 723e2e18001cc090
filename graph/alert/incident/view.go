package incident

import (
	"slices"
	"sync"

	"github.com/sluicehq/sluice/graph/ocsf"
	"github.com/sluicehq/sluice/sigma/ast"
)

// View is the open incidents at one moment. It never changes, and any goroutine may read it.
// A nil View has none.
type View struct {
	all    []*content
	layout *layout
	sort   sync.Once
}

// Len is how many incidents there are.
func (v *View) Len() int {
	if v == nil {
		return 0
	}
	return len(v.all)
}

// sorted are the incidents by the time of their first result, then by their ids.
func (v *View) sorted() []*content {
	if v == nil {
		return nil
	}
	v.sort.Do(func() { slices.SortFunc(v.all, compare) })
	return v.all
}

// Each yields the incidents by the time of their first result, then by their ids, until
// yield returns false.
func (v *View) Each(yield func(*Entry) bool) {
	for _, c := range v.sorted() {
		if !yield(&Entry{c, v.layout}) {
			return
		}
	}
}

// Find is the incident of an id.
func (v *View) Find(id string) (*Entry, bool) {
	for _, c := range v.sorted() {
		if c.id == id {
			return &Entry{c, v.layout}, true
		}
	}
	return nil, false
}

// Entry is an incident of a View.
type Entry struct {
	content *content
	layout  *layout
}

// SampleMode says what an incident holds of its results.
type SampleMode string

// What incidents hold.
const (
	HoldsNone    SampleMode = "none"
	HoldsRefs    SampleMode = "refs"
	HoldsResults SampleMode = "results"
	HoldsMixed   SampleMode = "mixed"
)

// SampleMode says what the incident holds of its results.
func (e *Entry) SampleMode() SampleMode {
	k := e.content.samples
	switch {
	case len(k.refs) > 0 && len(k.lines) > 0:
		return HoldsMixed
	case len(k.refs) > 0:
		return HoldsRefs
	case len(k.lines) > 0:
		return HoldsResults
	}
	return HoldsNone
}

// Ready reports whether a record told of the incident, so that there can be a bundle.
func (e *Entry) Ready() bool { return e.content.opened }

// ID is the id of the incident.
func (e *Entry) ID() string { return e.content.id }

// FirstSeen is the time of its first result.
func (e *Entry) FirstSeen() int64 { return e.content.first }

// LastSeen is the time of its last result, repetitions included.
func (e *Entry) LastSeen() int64 { return e.content.last }

// MaxLevel is the highest level of its results.
func (e *Entry) MaxLevel() ast.Level { return e.content.level }

// ResultCount is how many results it had.
func (e *Entry) ResultCount() int64 { return e.content.results }

// RuleCounts are how many results it had of each rule.
func (e *Entry) RuleCounts() map[string]int64 { return e.content.ruleCounts() }

// GroupBy are the values that make the group, nil in an entity graph.
func (e *Entry) GroupBy() []ocsf.Selected { return e.content.selected() }

// Entities are the values of an incident of an entity graph that it shows.
func (e *Entry) Entities() []ocsf.Entities { return e.content.entities(e.layout) }

// Results are the results that it keeps: native lines without events. They must not be
// changed.
func (e *Entry) Results() [][]byte { return e.content.samples.lines }

// AppendSnapshot appends the incident as answers to requests show it, as one JSON object.
func (e *Entry) AppendSnapshot(dst []byte) []byte {
	dst = e.content.appendMembers(dst, e.layout, Snapshot)
	dst = append(append(dst, `,"sample_mode":"`...), e.SampleMode()...)
	if e.Ready() {
		return append(dst, `","bundle_ready":true}`...)
	}
	return append(dst, `","bundle_ready":false}`...)
}
