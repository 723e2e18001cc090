package dedup

import (
	"math"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/graph/alert/sample"
	"github.com/sluicehq/sluice/graph/selector"
)

// Config says which results repeat an alert, and when alerts are reported. Times are in
// seconds.
type Config struct {
	Fingerprint []selector.Selector // beside the rule, which always counts
	Repeat      int64               // between two records of an alert to which results came; 0 for none
	Resolve     int64               // without results, until an alert is over
	MaxActive   int                 // alerts at a time
}

// Store holds the active alerts. It is for one goroutine.
type Store struct {
	config  Config
	prints  prints
	digest  func(text []byte) uint64
	alerts  map[string]*Alert // by key
	digests map[uint64]int    // how many alerts have it
	slots   slots
	seen    calendar // the alerts by the second of their last result
	untold  calendar // those with results that no record told of, by the second of the last record
	due     []int32  // memory for ticks
	bytes   int      // of keys, fields and samples
	limit   int      // of bytes
	buffer  []byte   // memory for openings

	// What Find leaves for Open.
	key         []byte
	enrichments []byte
}

// maxBytes is how many bytes the keys, fields and samples of all alerts have together.
// Beyond it the store is full.
const maxBytes = 256 << 20

// New returns an empty store.
func New(c Config) *Store {
	s := &Store{digest: digestOf, limit: maxBytes}
	s.reset()
	s.Configure(c)
	return s
}

func (s *Store) reset() {
	s.alerts = make(map[string]*Alert)
	s.digests = make(map[uint64]int)
	s.slots, s.seen, s.untold, s.due = slots{}, calendar{}, calendar{}, nil
}

// Configure goes on with another configuration. Alerts stay. Times apply to them from the
// next tick on; what repeats an alert under other selectors opens one of its own.
func (s *Store) Configure(c Config) {
	s.config, s.prints = c, newPrints(c.Fingerprint)
}

// Len is the number of active alerts.
func (s *Store) Len() int { return len(s.alerts) }

// maxKept is how much memory for keys and samples is kept for the next result.
const maxKept = 64 << 10

// Find returns the active alert that a result repeats, nil when there is none.
func (s *Store) Find(r *graph.Result) *Alert {
	if cap(s.key) > maxKept {
		s.key = nil
	}
	s.key = s.prints.appendKey(s.key[:0], r)
	if a := s.alerts[string(s.key)]; a != nil {
		return a
	}
	s.enrichments = r.Enrichments
	return nil
}

// Fold counts a result that repeats an alert.
func (s *Store) Fold(a *Alert, now int64) {
	a.fires++
	if !a.untold {
		a.untold = true
		s.untold.put(a.slot, a.lastEmitted)
	}
	if a.lastSeen != now {
		s.seen.drop(a.slot, a.lastSeen)
		a.lastSeen = now
		s.seen.put(a.slot, now)
	}
}

// Open opens an alert for the result that Find was called for last, which found none. The
// result may have got the id of its incident since. False says that the store is full.
func (s *Store) Open(r *graph.Result, now int64, in incident.Ref) (opened bool) {
	enrichments := s.enrichments
	s.enrichments = nil
	if len(s.alerts) >= min(s.config.MaxActive, math.MaxInt32) || s.bytes+len(s.key) > s.limit {
		return false
	}
	o := &opening{first: now, key: string(s.key)}
	o.digest = s.digestOfKey(o.key)
	b := appendDigest(s.buffer[:0], o.digest, o.key, s.digests[o.digest] > 0)
	o.shown = len(b)
	found := *r
	found.Enrichments = enrichments // as the key was made of them
	b = s.prints.appendFields(b, &found)
	o.fields = len(b)
	b = sample.Append(b, r)
	if s.bytes+len(o.key)+len(b) > s.limit {
		s.keep(b)
		return false
	}
	o.memory = append(make([]byte, 0, len(b)), b...)
	s.keep(b)
	s.add(Alert{lastSeen: now, lastEmitted: now, fires: 1, emitted: 1, in: in, opening: o})
	return true
}

// digestOfKey is the digest of the text of a key.
func (s *Store) digestOfKey(key string) uint64 {
	text := appendText(s.buffer[:0], key)
	s.keep(text)
	return s.digest(text)
}

// keep keeps memory for the next opening, unless it is much.
func (s *Store) keep(b []byte) {
	if cap(b) <= maxKept {
		s.buffer = b[:0]
	}
}

func (s *Store) add(with Alert) {
	a := s.slots.take()
	with.slot = a.slot
	*a = with
	s.alerts[a.key] = a
	s.bytes += a.size()
	s.digests[a.digest]++
	s.seen.put(a.slot, a.lastSeen)
	if a.untold = a.fires > a.emitted; a.untold {
		s.untold.put(a.slot, a.lastEmitted)
	}
}

func (s *Store) remove(a *Alert) {
	s.seen.drop(a.slot, a.lastSeen)
	s.told(a)
	delete(s.alerts, a.key)
	s.bytes -= a.size()
	if s.digests[a.digest]--; s.digests[a.digest] == 0 {
		delete(s.digests, a.digest)
	}
	s.slots.give(a)
	if len(s.alerts) == 0 && s.slots.many() {
		s.reset() // gives the memory back
	}
}

// told says that a record told of all results so far.
func (s *Store) told(a *Alert) {
	if a.untold {
		a.untold = false
		s.untold.drop(a.slot, a.lastEmitted)
	}
}
