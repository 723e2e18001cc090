package incident

import (
	"cmp"
	"math"
	"slices"

	"github.com/sluicehq/sluice/graph/alert/due"
)

// Tick gives emit the records that are due at now, the oldest incident first. Those that
// muted holds stay due: it is given the newest result of the incident.
func (s *Store) Tick(now int64, muted func(sample []byte) bool, emit func(*Record)) {
	s.sweep()
	s.ticked, s.hasTicked = now, true
	s.refill()
	s.collect(&s.news, queuedNews, now)
	s.collect(&s.repeat, queuedRepeat, now)
	s.collect(&s.resolve, queuedResolve, now)
	byAge(s.due, s)
	for _, n := range s.due {
		s.step(n, now, muted, emit)
	}
	s.settle()
}

// settle queues those that were taken out again.
func (s *Store) settle() {
	for _, n := range s.due {
		if n.flags &^= collected; n.at != gone {
			s.queue(s.all[n.at])
		}
	}
	clear(s.due)
	s.due = s.due[:0]
}

// collect takes out of a queue what may be due.
func (s *Store) collect(q *due.Queue[*node], in flags, now int64) {
	for {
		n, ok := q.Pop(now)
		if !ok {
			return
		}
		if n.at == gone {
			continue
		}
		n.flags &^= in
		if n.flags&collected == 0 {
			n.flags |= collected
			s.due = append(s.due, n)
		}
	}
}

// byAge sorts incidents by the time of their first result, then by their ids.
func byAge(all []*node, s *Store) {
	slices.SortFunc(all, func(a, b *node) int { return compare(s.all[a.at], s.all[b.at]) })
}

func compare(a, b *content) int {
	return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.id, b.id))
}

// step does what is due of one incident.
func (s *Store) step(n *node, now int64, muted func(sample []byte) bool, emit func(*Record)) {
	c := s.all[n.at]
	idle := n.names == 0 && now-c.last >= s.config.Resolve
	if !c.opened {
		switch {
		case now-c.first < s.config.Wait:
		case !muted(c.samples.newest):
			s.report(n, now, GroupWait, emit)
		case idle:
			s.remove(n)
		}
		return
	}
	if idle {
		emit(s.record(n, Resolved))
		s.remove(n)
		return
	}
	news := c.dirty && now-c.news >= s.config.Interval
	repeats := s.config.Repeat > 0 && now-c.emitted >= s.config.Repeat
	switch {
	case !news && !repeats, muted(c.samples.newest):
	case news:
		s.report(n, now, GroupInterval, emit)
	default:
		s.report(n, now, Repeat, emit)
	}
}

// report gives emit a record of an incident that stays open.
func (s *Store) report(n *node, now int64, t Trigger, emit func(*Record)) {
	c := s.own(n)
	if c.opened && now < c.emitted {
		s.requeue = true
	}
	c.emitted = now
	if t != Repeat {
		c.news, c.dirty = now, false
	}
	if !c.opened {
		c.opened = true
		s.batching--
	}
	emit(s.record(n, t))
}

// record is a record of an incident as it is now.
func (s *Store) record(n *node, t Trigger) *Record {
	c := s.all[n.at]
	if c.epoch == s.epoch {
		c.epoch = 0 // from now on it is shared
	}
	return &Record{content: c, layout: s.layout, trigger: t}
}

// queue sees to it that an incident comes out of the queues when there is something to do.
// The times of what is queued already have moved to later seconds only.
func (s *Store) queue(c *content) {
	n := c.node
	add := func(q *due.Queue[*node], in flags, at int64) {
		if n.flags&in == 0 {
			n.flags |= in
			q.Add(at, n)
		}
	}
	if !c.opened {
		add(&s.news, queuedNews, later(c.first, s.config.Wait))
		return
	}
	if c.dirty {
		add(&s.news, queuedNews, later(c.news, s.config.Interval))
	}
	if s.config.Repeat > 0 {
		add(&s.repeat, queuedRepeat, later(c.emitted, s.config.Repeat))
	}
	if n.names == 0 {
		add(&s.resolve, queuedResolve, later(c.last, s.config.Resolve))
	}
}

// later is a second after at; the end of time is not passed.
func later(at, seconds int64) int64 {
	if at > math.MaxInt64-1-seconds {
		return math.MaxInt64 - 1
	}
	return at + seconds
}

// refill fills the queues anew when they may come too late.
func (s *Store) refill() {
	if !s.requeue {
		return
	}
	s.requeue = false
	s.news.Reset()
	s.repeat.Reset()
	s.resolve.Reset()
	for _, c := range s.all {
		c.node.flags = 0
		s.queue(c)
	}
}

// Next is the earliest second behind the last tick at whose tick there may be something to
// do, and false if there is none without another result.
func (s *Store) Next() (at int64, ok bool) {
	s.refill()
	for _, q := range []*due.Queue[*node]{&s.news, &s.repeat, &s.resolve} {
		if t, is := q.Next(); is && (!ok || t < at) {
			at, ok = t, true
		}
	}
	if ok && s.hasTicked {
		at = max(at, s.ticked+1)
	}
	return at, ok
}

// NextBehind is the earliest second behind now at which something falls due, as long as no
// result comes; what is due at now does not count. It looks at every incident.
func (s *Store) NextBehind(now int64) (at int64, ok bool) {
	earlier := func(from, seconds int64) {
		if t := later(from, seconds); t > now && (!ok || t < at) {
			at, ok = t, true
		}
	}
	for _, c := range s.all {
		if c.node.names == 0 {
			earlier(c.last, s.config.Resolve)
		}
		if !c.opened {
			earlier(c.first, s.config.Wait)
			continue
		}
		if c.dirty {
			earlier(c.news, s.config.Interval)
		}
		if s.config.Repeat > 0 {
			earlier(c.emitted, s.config.Repeat)
		}
	}
	return at, ok
}

// Last reports the incidents of which nothing was reported, unless they are muted, as there
// is no other tick.
func (s *Store) Last(now int64, muted func(sample []byte) bool, emit func(*Record)) {
	for _, n := range s.byAge() {
		if c := s.all[n.at]; !c.opened && !muted(c.samples.newest) {
			s.report(n, now, GroupWait, emit)
			s.queue(s.all[n.at])
		}
	}
}

// Close ends all incidents. Those that were reported have a record of their end.
func (s *Store) Close(emit func(*Record)) {
	for _, n := range s.byAge() {
		if s.all[n.at].opened {
			emit(s.record(n, Resolved))
		}
		s.remove(n)
	}
	s.sweep()
	s.requeue = true
}

// byAge is all incidents, the oldest first.
func (s *Store) byAge() []*node {
	all := make([]*node, len(s.all))
	for i, c := range s.all {
		all[i] = c.node
	}
	byAge(all, s)
	return all
}
