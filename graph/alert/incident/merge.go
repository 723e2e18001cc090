package incident

// merge makes an incident part of another one, to which its values and the alerts that name
// it lead from now on.
func (s *Store) merge(n, victim *node) {
	c, v := s.own(n), s.all[victim.at]
	s.mergeTimes(c, v)
	c.results += v.results
	c.level = max(c.level, v.level)
	for _, one := range v.counts {
		c.bump(one.rule.Value(), one.n)
	}
	s.mergeValues(c, v)
	c.samples.refs = appendUpTo(c.samples.refs, v.samples.refs, s.config.MaxResults)
	c.samples.lines = appendUpTo(c.samples.lines, v.samples.lines, s.config.MaxResults)
	n.names += victim.names
	s.take(victim)
	victim.into = n
	s.soil(c)
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
		x := s.slotOf(key)
		s.values.beyond -= len(key) + keyCost
		if c.dismiss(key) {
			c.own(key)
			x.owner, x.place = c.node, uint32(len(c.owned)-1)
		} else {
			x.owner, x.place = c.node, s.leaveOut(c, key)
		}
	}
	for _, key := range v.more.guests {
		selector, _ := parse(key)
		x := s.slotOf(key)
		switch {
		case x == nil || x.owner != c.node:
			s.host(c, key, selector)
		case x.place&outside != 0 && s.room(c, selector):
			s.admit(c, x, selector)
		}
	}
}

// appendUpTo appends to dst, as long as it has no more than limit elements.
func appendUpTo[T any](dst, more []T, limit int) []T {
	return append(dst, more[:max(0, min(len(more), limit-len(dst)))]...)
}
