package incident

// merge makes an incident part of another one, to which its values and the alerts that name
// it lead from now on.
//
// The shorter list of values moves into the longer one, whichever of the two incidents lives
// on: so all the merges that there are move a value as often as its list doubles. The node
// that stays is that of the longer list.
func (s *Store) merge(n, victim *node) *node {
	c, v := s.own(n), s.all[victim.at]
	if v.values() > c.values() {
		v = s.exchange(c, v)
		n, victim = victim, n
	}
	s.hold(c, v.held)
	s.bytes -= v.held // it is counted once
	s.mergeTimes(c, v)
	c.results += v.results
	c.level = max(c.level, v.level)
	for _, one := range v.counts {
		c.bump(one.rule.Value(), one.n)
	}
	s.mergeValues(c, v)
	c.samples.refs = appendUpTo(c.samples.refs, v.samples.refs, s.config.MaxResults)
	kept := len(c.samples.lines)
	c.samples.lines = appendUpTo(c.samples.lines, v.samples.lines, s.config.MaxResults)
	for _, line := range v.samples.lines[len(c.samples.lines)-kept:] {
		s.hold(c, -cap(line))
	}
	s.hold(c, -v.samples.apart)
	if v.by != nil {
		s.hold(c, -v.by.size())
	}
	n.names += victim.names
	s.take(victim)
	victim.into = n
	s.soil(c)
	if n.flags == 0 {
		s.queue(c)
	}
	return n
}

// values is how many values lead to an incident, and how many of others it shows.
func (c *content) values() int {
	n := len(c.owned)
	if c.more != nil {
		n += len(c.more.beyond) + len(c.more.foreign)
	}
	return n
}

// exchange makes two incidents change their nodes and their values. It returns the second
// one, which it copies, as others may have it.
func (s *Store) exchange(c, shared *content) *content {
	v := *shared
	c.owned, v.owned = v.owned, c.owned
	c.more, v.more = v.more, c.more
	if c.more != nil {
		more := *c.more
		c.more = &more
	}
	c.node, v.node = v.node, c.node
	s.all[c.node.at], s.all[v.node.at] = c, &v
	if c.node.rare != nil || v.node.rare != nil { // rules are those of the counts, which stay
		a, b := c.node.big(), v.node.big()
		a.rules, b.rules = b.rules, a.rules
	}
	c.node.flags = 0 // its entries in the queues are those of other times
	return &v
}

// mergeTimes takes the earlier of the times that began something, and the later of others.
func (s *Store) mergeTimes(c, v *content) {
	c.first, c.last = min(c.first, v.first), max(c.last, v.last)
	switch {
	case c.opened && v.opened:
		c.emitted, c.news = max(c.emitted, v.emitted), max(c.news, v.news)
	case v.opened:
		c.emitted, c.news, c.opened = v.emitted, v.news, true
		s.batching--
		s.requeue = true // it waited for its first record
	}
}

// mergeValues moves the values of v to c.
func (s *Store) mergeValues(c, v *content) {
	for _, key := range v.owned {
		s.moves++
		s.hold(c, -len(key)) // until it has its new place
		x := s.slotOf(key)
		selector, _ := parse(key)
		if s.enter(c, key, selector) {
			x.owner, x.place = c.node, uint32(len(c.owned)-1)
		} else {
			x.owner, x.place = c.node, s.leaveOut(c, key)
		}
	}
	if v.more == nil {
		return
	}
	for _, key := range v.more.beyond {
		s.moves++
		x := s.slotOf(key)
		s.values.beyond -= len(key) + keyCost
		if s.dismiss(c, key) {
			s.include(c, key)
			x.owner, x.place = c.node, uint32(len(c.owned)-1)
		} else {
			x.owner, x.place = c.node, s.leaveOut(c, key)
		}
	}
	for _, key := range v.more.foreign {
		s.moves++
		s.hold(c, -len(key))
		selector, _ := parse(key)
		x := s.slotOf(key)
		switch {
		case x == nil || x.owner != c.node:
			s.host(c, key, selector)
		case x.place&outside != 0 && s.admits(c, selector, len(key)):
			s.admit(c, x, selector)
		}
	}
}

// appendUpTo appends to dst, as long as it has no more than limit elements.
func appendUpTo[T any](dst, more []T, limit int) []T {
	return append(dst, more[:max(0, min(len(more), limit-len(dst)))]...)
}
