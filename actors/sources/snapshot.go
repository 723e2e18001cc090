package sources

import (
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// Snapshot are the values of all sources at one moment. It never changes.
type Snapshot struct {
	values map[string]pipeline.Value
	stored []string // sources whose values are from the state database
}

// Values are the values by id of their source. Nobody changes the map.
func (s *Snapshot) Values() map[string]pipeline.Value { return s.values }

// snapshot takes the current values.
func (b *book) snapshot() *Snapshot {
	s := b.snapshotOf(func(e *entry) []byte { return e.current })
	for _, e := range b.entries {
		if e.stored {
			s.stored = append(s.stored, e.ID)
		}
	}
	return s
}

func (b *book) snapshotOf(json func(*entry) []byte) *Snapshot {
	s := &Snapshot{values: make(map[string]pipeline.Value, len(b.entries))}
	for _, e := range b.entries {
		s.values[e.ID] = pipeline.Value{JSON: json(e), Remote: e.Type.Remote()}
	}
	return s
}
