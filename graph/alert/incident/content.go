package incident

import (
	"slices"
	"unique"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/sample"
	"github.com/sluicehq/sluice/sigma/ast"
)

// content is what is known of an incident. Views and records share it: the store changes it
// only while its epoch is that of the store, and a copy of it otherwise. What its lists hold
// stays as it is; only behind their ends something is added.
type content struct {
	node    *node
	id      string
	first   int64
	last    int64
	emitted int64    // of any record, once it is opened
	news    int64    // of the first record, or of news, once it is opened
	by      *group   // nil in an entity graph
	owned   []string // keys of its set of values, for which the store's index names it
	more    *more    // nil if there is nothing in it
	counts  []count
	results int64
	samples *samples
	epoch   uint64
	held    int // bytes of its values, group and samples, but for values that are left out
	level   ast.Level
	opened  bool // a record told of it
	dirty   bool // it has news
}

// more is what few incidents of an entity graph have.
type more struct {
	beyond  []string // keys for which the index names it, but which did not fit into its set
	foreign []string // keys of its set, for which the index does not name it
}

// count is how many results of a rule there were.
type count struct {
	rule unique.Handle[string]
	n    int64
}

// ref is what an incident keeps of a result.
type ref struct {
	rule  string
	level ast.Level
}

// samples are what an incident keeps of its results.
type samples struct {
	refs   []unique.Handle[ref]
	lines  [][]byte
	newest []byte // the newest result, with or without a place in lines
	apart  int    // bytes of newest if it has no place in lines
	reuse  bool   // nobody else has the bytes of newest
}

// own returns the content of n, for changes.
func (s *Store) own(n *node) *content {
	c := s.all[n.at]
	if c.epoch == s.epoch {
		return c
	}
	s.view = nil
	mine := *c
	mine.epoch = s.epoch
	mine.counts = slices.Clone(c.counts)
	kept := *c.samples
	kept.reuse = false
	mine.samples = &kept
	if c.more != nil {
		more := *c.more
		mine.more = &more
	}
	s.all[n.at] = &mine
	return &mine
}

// absorb takes a result into an incident.
func (s *Store) absorb(n *node, r *graph.Result, now int64) {
	c := s.own(n)
	rule, level := r.RuleKey(), r.Level()
	s.seen(c, now)
	c.results++
	c.level = max(c.level, level)
	c.bump(rule, 1)
	s.keep(c, r, ref{rule, level})
	s.soil(c)
}

// seen moves the last sign of life to now.
func (s *Store) seen(c *content, now int64) {
	if now < c.last {
		s.requeue = true // it ends sooner than was thought
	}
	c.last = now
}

// soil says that an incident has news.
func (s *Store) soil(c *content) {
	if !c.dirty {
		c.dirty = true
		s.queue(c)
	}
}

// keep takes a sample of a result, unless there is no room for it.
func (s *Store) keep(c *content, r *graph.Result, what ref) {
	k := c.samples
	s.line = sample.Append(s.line[:0], r)
	fits := s.fits(len(s.line) - k.apart)
	if s.config.Include == Results && len(k.lines) < s.config.MaxResults && fits {
		k.newest, k.reuse = slices.Clone(s.line), false
		k.lines = append(k.lines, k.newest)
		s.hold(c, cap(k.newest)-k.apart)
		k.apart = 0
		return
	}
	if s.config.Include == Refs && len(k.refs) < s.config.MaxResults {
		k.refs = append(k.refs, unique.Make(what))
	}
	if k.reuse && cap(k.newest) >= len(s.line) && cap(k.newest) <= 2*len(s.line) {
		k.newest = append(k.newest[:0], s.line...)
		return
	}
	if k.newest != nil && !fits {
		return
	}
	k.newest, k.reuse = slices.Clone(s.line), true
	s.hold(c, cap(k.newest)-k.apart)
	k.apart = cap(k.newest)
}

// manyRules is how many rules are looked through one by one.
const manyRules = 8

// bump adds n to the count of a rule.
func (c *content) bump(rule string, n int64) {
	if len(c.counts) <= manyRules {
		for i := range c.counts {
			if c.counts[i].rule.Value() == rule {
				c.counts[i].n += n
				return
			}
		}
		c.counts = append(c.counts, count{unique.Make(rule), n})
		return
	}
	big, key := c.node.big(), unique.Make(rule)
	if big.rules == nil {
		big.rules = make(map[unique.Handle[string]]int32, len(c.counts))
		for i := range c.counts {
			big.rules[c.counts[i].rule] = int32(i)
		}
	}
	at, ok := big.rules[key]
	if !ok {
		big.rules[key] = int32(len(c.counts))
		c.counts = append(c.counts, count{key, n})
		return
	}
	c.counts[at].n += n
}
