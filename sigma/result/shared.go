package result

import "sync/atomic"

// shared is what an encoding made of the texts that the detections of one Selections
// have in common.
type shared struct {
	key   any
	value any
	next  *shared
}

// encodings are few: one for each way in which results are written beside the native one.
type encodings struct{ first atomic.Pointer[shared] }

// Shared returns what make makes of a detection without fields: what all detections of
// these selections have in common, in another encoding than the native line. It is made
// once for each key and lives as long as the selections, so there must be few keys. It
// never changes.
func (s *Selections) Shared(key any, make func(*Detection) any) any {
	for {
		first := s.encodings.first.Load()
		for e := first; e != nil; e = e.next {
			if e.key == key {
				return e.value
			}
		}
		made := &shared{key: key, value: make(&s.detection), next: first}
		if s.encodings.first.CompareAndSwap(first, made) {
			return made.value
		}
	}
}
