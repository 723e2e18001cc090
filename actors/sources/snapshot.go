package sources

import (
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// Snapshot are the values of all sources at one moment. It never changes.
type Snapshot struct{ values map[string]pipeline.Value }

// Values are the values by id of their source. Nobody changes the map.
func (s *Snapshot) Values() map[string]pipeline.Value { return s.values }

// snapshot takes the current values.
func (b *book) snapshot() *Snapshot {
	return b.snapshotOf(func(e *entry) []byte { return e.current })
}

func (b *book) snapshotOf(json func(*entry) []byte) *Snapshot {
	s := &Snapshot{make(map[string]pipeline.Value, len(b.entries))}
	for _, e := range b.entries {
		s.values[e.ID] = pipeline.Value{JSON: json(e), Remote: e.Type.Remote()}
	}
	return s
}
