package step

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/engine"
)

// Shapes finds out whether most events have a shape whose fields the rules do not look
// at, because the pipeline that renames them is missing or another one is there, and
// whether routing by log source skips every rule for each of them. It is shared by the
// workers of an evaluation. Any goroutine may use it.
type Shapes struct {
	Least uint64 // events before there is an answer

	done atomic.Bool // nothing is looked at any more

	mu      sync.Mutex // guards what follows
	set     *engine.Set
	shown   [engine.NumShapes]uint64 // events looked at
	events  uint64                   // all of them
	results uint64                   // of rules that such events may meet by their fields
	fits    bool                     // some event had a rule that was not skipped

	products map[string]struct{} // of events looked at, when rules are skipped
}

// looksPerBatch is how many events of a batch are looked at.
const looksPerBatch = 4

// fewResults is how many events there are for a result that is taken for an accident.
const fewResults = 10

// look looks at the events of a batch that has been evaluated.
func (s *Shapes) look(b *graph.Batch, stats engine.Stats) {
	if s == nil || s.done.Load() {
		return
	}
	set, results := b.Set.Engine, uint64(0)
	for i := range b.Results.Len() {
		if set.ReadsRecords(b.Results.At(i).Rule.Index) {
			results++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set = set
	s.events += uint64(b.Events.Len())
	s.results += results
	s.fits = s.fits || stats.Pruned < uint64(b.Events.Len()*len(set.Rules()))
	routed := stats.Pruned > 0 && b.Events.Len() > 0
	if routed && s.products == nil {
		s.products = make(map[string]struct{})
	}
	for i := range min(b.Events.Len(), looksPerBatch) {
		s.shown[b.Events.Shape(i)]++
		if name := readable(b.Events.Product(i)); routed && name != "" && len(s.products) < maxShown {
			s.products[name] = struct{}{}
		}
	}
}

// Unread returns the shape of most events when there are enough, the rules do not look
// at its fields, and hardly an event has a result.
func (s *Shapes) Unread() (engine.Shape, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	looks, most := uint64(0), engine.NoShape
	for shape, n := range s.shown {
		if looks += n; n > s.shown[most] {
			most = engine.Shape(shape)
		}
	}
	unread := looks > 0 && s.events >= s.Least && 2*s.shown[most] > looks && s.results*fewResults <= s.events && s.set.Misses(most)
	return most, unread
}

// Renamed reports whether a pipeline has renamed the fields of the rules to those of
// another shape than this one.
func (s *Shapes) Renamed(shape engine.Shape) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set.Renamed(shape)
}

// Skipped says which products rules and events have when routing by log source has
// skipped every rule for every event.
type Skipped struct {
	Rules, Events string // empty when none is named
}

// Skipped returns an answer when there are enough events and that is so.
func (s *Shapes) Skipped() (Skipped, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.events == 0 || s.events < s.Least || len(s.set.Rules()) == 0 || s.fits {
		return Skipped{}, false
	}
	names, _ := s.set.Products()
	var rules []string
	for _, name := range slices.Sorted(slices.Values(names)) {
		if name != "" {
			rules = append(rules, readable(name))
		}
	}
	return Skipped{list(rules), list(slices.Sorted(maps.Keys(s.products)))}, true
}

// Once is true once: when there are enough events. Looking ends with that.
func (s *Shapes) Once() bool {
	if s == nil || s.done.Load() {
		return false
	}
	s.mu.Lock()
	enough := s.events >= s.Least
	s.mu.Unlock()
	return enough && !s.done.Swap(true)
}

// Last is true at the end of the events, however few there were, unless Once has been.
func (s *Shapes) Last() bool {
	if s == nil || s.done.Swap(true) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Least = 1
	return s.events > 0
}
