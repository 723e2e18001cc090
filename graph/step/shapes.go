package step

import (
	"sync"
	"sync/atomic"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/engine"
)

// Shapes finds out whether most events have a shape whose fields the rules do not look
// at, because the pipeline that renames them is missing or another one is there. It is
// shared by the workers of an evaluation. Any goroutine may use it.
type Shapes struct {
	Least uint64 // events before there is an answer

	done atomic.Bool // nothing is looked at any more

	mu      sync.Mutex // guards what follows
	set     *engine.Set
	shown   [engine.NumShapes]uint64 // events looked at
	events  uint64                   // all of them
	results uint64                   // of rules that such events may meet by their fields
}

// looksPerBatch is how many events of a batch are looked at.
const looksPerBatch = 4

// fewResults is how many events there are for a result that is taken for an accident.
const fewResults = 10

// look looks at the events of a batch that has been evaluated.
func (s *Shapes) look(b *graph.Batch) {
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
	for i := range min(b.Events.Len(), looksPerBatch) {
		s.shown[b.Events.Shape(i)]++
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

// Once is Unread until there are enough events, and looking ends with that.
func (s *Shapes) Once() (engine.Shape, bool) {
	if s == nil || s.done.Load() {
		return engine.NoShape, false
	}
	s.mu.Lock()
	enough := s.events >= s.Least
	s.mu.Unlock()
	if !enough || s.done.Swap(true) {
		return engine.NoShape, false
	}
	return s.Unread()
}
