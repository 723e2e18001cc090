package incident

import (
	"slices"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/due"
	"github.com/sluicehq/sluice/graph/alert/sample"
)

// Store holds the open incidents.
type Store struct {
	config  Config
	numbers []int // of the selectors of config.Entities
	layout  *layout
	newID   func() string

	all      []*content // in no order
	batching int        // of all: nothing was reported of them
	epoch    uint64     // content of another one is shared
	bytes    int        // that all hold
	limit    int        // of bytes
	view     *View      // of all, until something changes

	keys   map[string]*node // by the key of their group
	ids    map[string]*node // those of keys
	found  map[string]*node // all by id, made when it is needed
	values values           // of entity graphs
	stop   map[string]struct{}
	pairs  []pair // of the result in hand
	touch  []*node
	moves  int // values that merges have moved
	// Memory for what is needed for a moment.
	pairText, text, line []byte

	news, repeat, resolve due.Queue[*node]
	requeue               bool  // what is queued may come too late
	ticked                int64 // second of the last tick
	hasTicked             bool
	due                   []*node
}

// maxBytes is how many bytes the values, results and groups of all incidents have together.
// Beyond it no incident is opened, and those that are open keep no more of them.
const maxBytes = 256 << 20

// New returns a store without incidents. The ids of incidents of an entity graph come from
// newID; they have to be new each time.
func New(c Config, newID func() string) *Store {
	s := &Store{newID: newID, epoch: 1, limit: maxBytes, keys: make(map[string]*node), ids: make(map[string]*node)}
	s.layout = &layout{}
	s.Configure(c)
	return s
}

// Configure goes on with another configuration. All incidents stay; what they wait for is
// measured anew at the next tick.
func (s *Store) Configure(c Config) {
	s.config, s.view, s.requeue = c, nil, true
	s.config.Entities = distinct(c.Entities)
	s.stop = make(map[string]struct{}, len(c.StopValues))
	for _, v := range c.StopValues {
		s.stop[v] = struct{}{}
	}
	s.layout = s.layout.renew(&s.config)
	s.numbers = s.numbers[:0]
	for i := range s.config.Entities {
		_, n := numbered(s.layout.names, s.config.Entities[i].String())
		s.numbers = append(s.numbers, n)
	}
}

// Outcome is what happened beside when a result was assigned.
type Outcome struct {
	Refused    int // 1 when an incident would have had to be opened, and there are too many
	StopValues int // values that never join anything
	Ceiling    int // values that are too frequent to join two incidents
	Unindexed  int // values that did not fit anywhere, and lead nowhere
}

// Assign takes a result into its incident, which it opens if need be. The zero Ref says that
// the result has no incident.
func (s *Store) Assign(r *graph.Result, now int64) (Ref, Outcome) {
	var o Outcome
	var n *node
	s.clock(now)
	if s.config.Mode == EntityGraph {
		n = s.join(r, now, &o)
	} else {
		n = s.group(r, now, &o)
	}
	if n == nil {
		return Ref{}, o
	}
	s.absorb(n, r, now)
	return Ref{n}, o
}

// clock notes that the clock may have gone back behind the last tick.
func (s *Store) clock(now int64) {
	if now < s.ticked {
		s.ticked = now - 1
	}
}

// open opens an incident without results, unless there are too many, or no room for the
// keys and the sample of its first one.
func (s *Store) open(r *graph.Result, keys int, now int64, o *Outcome) *content {
	if len(s.all) >= s.config.MaxOpen || !s.fits(keys) {
		o.Refused++
		return nil
	}
	if s.line = sample.Append(s.line[:0], r); !s.fits(keys + len(s.line)) {
		o.Refused++
		return nil
	}
	c := &content{first: now, last: now, dirty: true}
	s.insert(c)
	s.queue(c)
	return c
}

// insert takes in an incident.
func (s *Store) insert(c *content) {
	c.node = &node{at: int32(len(s.all))}
	c.epoch = s.epoch
	if c.samples == nil {
		c.samples = &samples{}
	}
	s.all = append(s.all, c)
	if !c.opened {
		s.batching++
	}
	s.view, s.found = nil, nil
}

// hold counts bytes that an incident holds more than before.
func (s *Store) hold(c *content, more int) {
	c.held += more
	s.bytes += more
}

// fits reports whether there is room for more bytes.
func (s *Store) fits(more int) bool { return more <= 0 || s.bytes+more <= s.limit }

// take takes an incident out. Its values, and what it holds, are left where they are.
func (s *Store) take(n *node) {
	c, last := s.all[n.at], s.all[len(s.all)-1]
	s.all[n.at] = last
	last.node.at = n.at
	s.all[len(s.all)-1] = nil
	s.all = s.all[:len(s.all)-1]
	n.at, n.rare = gone, nil
	if !c.opened {
		s.batching--
	}
	if c.by != nil {
		delete(s.keys, c.by.key)
		delete(s.ids, c.id)
	}
	s.view, s.found = nil, nil
}

// remove forgets an incident and its values.
func (s *Store) remove(n *node) {
	c := s.all[n.at]
	s.forget(c)
	s.bytes -= c.held
	s.take(n)
}

// ID is the id of an incident, "" when it is no longer open.
func (s *Store) ID(ref Ref) string {
	if n := ref.resolve(); n != nil {
		return s.all[n.at].id
	}
	return ""
}

// Refresh tells an incident of a repetition of one of its results, which was folded or
// silenced: it lives on, and counts it, but that is no news.
func (s *Store) Refresh(ref Ref, rule string, now int64) {
	s.clock(now)
	if n := ref.resolve(); n != nil {
		c := s.own(n)
		s.seen(c, now)
		c.results++
		c.bump(rule, 1)
	}
}

// Name says that an active alert names an incident, which does not end as long as one does.
func (s *Store) Name(ref Ref) {
	if n := ref.resolve(); n != nil {
		n.names++
	}
}

// Unname says that an alert which named an incident is over.
func (s *Store) Unname(ref Ref) {
	if n := ref.resolve(); n != nil && n.names > 0 {
		n.names--
		s.queue(s.all[n.at])
	}
}

// Find is the incident of an id.
func (s *Store) Find(id string) (Ref, bool) {
	if s.found == nil {
		s.found = make(map[string]*node, len(s.all))
		for _, c := range s.all {
			s.found[c.id] = c.node
		}
	}
	n, ok := s.found[id]
	return Ref{n}, ok
}

// Counts are how many incidents are open, and of how many of them nothing was reported.
func (s *Store) Counts() (open, batching int) { return len(s.all), s.batching }

// Export returns the open incidents as they are now.
func (s *Store) Export() *View {
	if s.view == nil {
		s.view = &View{all: slices.Clone(s.all), layout: s.layout}
		s.epoch++
	}
	return s.view
}
