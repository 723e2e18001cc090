package inhibit

import (
	"math"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/due"
)

// MaxSources is how many sources an Index holds. Beyond it the one that was seen longest
// ago goes.
const MaxSources = 100_000

// maxBytes is how many bytes the keys of all sources have together; beyond it sources go as
// they do beyond MaxSources.
const maxBytes = 64 << 20

// maxScratch is how much memory for texts is kept from one tick to the next.
const maxScratch = 64 << 10

type limits struct{ sources, bytes int }

// Index knows the rules and their sources. It is for one goroutine.
type Index struct {
	rules   []*entry
	tables  map[string]*table // by name of rule
	recent  list
	due     due.Queue[wake]
	stale   bool // a table has no rule
	len     int
	bytes   int
	limits  limits
	evicted uint64
	scratch []byte
}

// entry is a rule with its sources.
type entry struct {
	Rule
	*table
	events bool // the rule reads events
}

// table is the sources of a rule, which stay when the rule is configured anew.
type table struct {
	name     string
	duration int64
	sources  map[string]*source
}

// source is a source with the links of the list.
type source struct {
	key        string
	table      *table // nil once it is gone
	lastSeen   int64
	wake       int64 // of its entry in the queue
	prev, next *source
}

// wake is a source in the queue. It is stale if the source wakes at another time.
type wake struct {
	*source
	at int64
}

// New returns an index without rules.
func New() *Index {
	x := &Index{tables: make(map[string]*table), limits: limits{MaxSources, maxBytes}}
	x.recent.init()
	return x
}

// Configure sets the rules. Sources stay with the rules of their names; those of rules that
// are gone go at the next Expire.
func (x *Index) Configure(rules []Rule) {
	named := make(map[string]bool, len(rules))
	x.rules = x.rules[:0:0]
	for _, r := range rules {
		t := x.tables[r.Name]
		if t == nil {
			t = &table{name: r.Name, sources: make(map[string]*source)}
			x.tables[r.Name] = t
		}
		t.duration = r.Duration
		named[r.Name] = true
		x.rules = append(x.rules, &entry{r, t, r.readsEvent()})
	}
	x.stale = len(named) < len(x.tables)
	if x.stale {
		for name, t := range x.tables {
			if !named[name] && len(t.sources) == 0 {
				delete(x.tables, name)
			}
		}
	}
	x.queue()
}

// Rules is how many rules there are.
func (x *Index) Rules() int { return len(x.rules) }

// Len is how many sources there are, those included that the next Expire removes.
func (x *Index) Len() int { return x.len }

// Evicted is how many sources had to go because there were too many.
func (x *Index) Evicted() uint64 { return x.evicted }

// Inhibits returns the first rule that keeps r back at now.
func (x *Index) Inhibits(r *graph.Result, now int64) (rule string, inhibited bool) {
	for _, e := range x.rules {
		if x.inhibits(e, r, now) != nil {
			return e.Name, true
		}
	}
	return "", false
}

// InhibitsSample reports whether a rule keeps back at now what was a result with its event:
// rules that read events do not any more. Unless the source goes before its time, the rule
// does so until the given time at least.
func (x *Index) InhibitsSample(r *graph.Result, now int64) (until int64, inhibited bool) {
	for _, e := range x.rules {
		if e.events {
			continue
		}
		if s := x.inhibits(e, r, now); s != nil {
			return end(s.lastSeen, e.Duration), true
		}
	}
	return 0, false
}

// inhibits returns the source because of which a rule keeps r back, nil if there is none.
func (x *Index) inhibits(e *entry, r *graph.Result, now int64) *source {
	if len(e.sources) == 0 {
		return nil
	}
	var is bool
	if is, x.scratch = e.Target.Match(r, x.scratch); !is {
		return nil
	}
	if is, x.scratch = e.Source.Match(r, x.scratch); is {
		return nil
	}
	x.scratch = e.appendKey(x.scratch[:0], r)
	if s := e.sources[string(x.scratch)]; s != nil && !outlived(s.lastSeen, e.Duration, now) {
		return s
	}
	return nil
}

// Observe makes r a source of every rule whose source matchers it matches.
func (x *Index) Observe(r *graph.Result, now int64) {
	for _, e := range x.rules {
		var is bool
		if is, x.scratch = e.Source.Match(r, x.scratch); is {
			x.scratch = e.appendKey(x.scratch[:0], r)
			x.see(e.table, x.scratch, now)
		}
	}
}

// see notes that a source was seen.
func (x *Index) see(t *table, key []byte, now int64) {
	s := t.sources[string(key)]
	if s == nil {
		s = &source{key: string(key), table: t}
		t.sources[s.key] = s
		x.len++
		x.bytes += len(s.key)
		x.recent.append(s)
		x.watch(s, now)
		for x.len > x.limits.sources || x.bytes > x.limits.bytes && x.len > 1 {
			x.evicted++
			x.drop(x.recent.first())
		}
		return
	}
	x.recent.remove(s)
	x.recent.append(s)
	if later := end(now, t.duration); later < s.wake { // the clock went back
		x.watch(s, now)
		return
	}
	s.lastSeen = now
}

// watch sets the time of a source and makes the queue wake it when its duration is over.
func (x *Index) watch(s *source, lastSeen int64) {
	s.lastSeen, s.wake = lastSeen, end(lastSeen, s.table.duration)
	x.due.Add(s.wake, wake{s, s.wake})
	if x.due.Len() > 2*x.len+64 {
		x.queue()
	}
}

// queue makes the queue anew.
func (x *Index) queue() {
	x.due.Reset()
	for s := range x.recent.each {
		s.wake = end(s.lastSeen, s.table.duration)
		x.due.Add(s.wake, wake{s, s.wake})
	}
}

// drop removes a source.
func (x *Index) drop(s *source) {
	delete(s.table.sources, s.key)
	s.table = nil
	x.recent.remove(s)
	x.len--
	x.bytes -= len(s.key)
}

// Expire removes the sources that have outlived the duration of their rule, and those of
// rules that are gone.
func (x *Index) Expire(now int64) {
	if x.stale {
		x.forget()
	}
	if cap(x.scratch) > maxScratch {
		x.scratch = nil
	}
	for {
		w, ok := x.due.Pop(now)
		switch {
		case !ok:
			return
		case w.table == nil || w.at != w.wake:
		case outlived(w.lastSeen, w.table.duration, now):
			x.drop(w.source)
		default:
			x.watch(w.source, w.lastSeen)
		}
	}
}

// forget removes the sources of rules that are gone.
func (x *Index) forget() {
	named := make(map[*table]bool, len(x.rules))
	for _, e := range x.rules {
		named[e.table] = true
	}
	for name, t := range x.tables {
		if named[t] {
			continue
		}
		for _, s := range t.sources {
			x.drop(s)
		}
		delete(x.tables, name)
	}
	x.stale = false
}

// outlived reports whether a duration is over at now.
func outlived(lastSeen, duration, now int64) bool {
	return now >= lastSeen && uint64(now)-uint64(lastSeen) >= uint64(max(duration, 0))
}

// end is when a duration is over, or the last second there is.
func end(lastSeen, duration int64) int64 {
	if at := lastSeen + max(duration, 0); at >= lastSeen {
		return at
	}
	return math.MaxInt64
}
