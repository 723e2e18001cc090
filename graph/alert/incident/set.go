package incident

import (
	"slices"
	"strings"
)

// parse splits a key into the number of its selector and the text of its value.
func parse(key string) (selector int, text string) {
	for i, shift := 0, 0; i < len(key); i, shift = i+1, shift+7 {
		selector |= int(key[i]&0x7f) << shift
		if key[i] < 0x80 {
			return selector, key[i+1:]
		}
	}
	return 0, ""
}

// admits reports whether there is room for a value of a selector in the set of an incident,
// whose key has so many bytes.
func (s *Store) admits(c *content, selector, bytes int) bool {
	if !s.fits(bytes) {
		return false
	}
	held := len(c.owned)
	if c.more != nil {
		held += len(c.more.foreign)
	}
	if held < s.config.MaxEntities {
		return true
	}
	big := c.node.big()
	if big.sizes == nil {
		big.sizes = make([]int, len(s.layout.names))
		for key := range c.set {
			sel, _ := parse(key)
			big.sizes[sel]++
		}
	}
	return big.size(selector) < s.config.MaxEntities
}

// size is how many values of a selector there are.
func (b *rare) size(selector int) int {
	if selector >= len(b.sizes) {
		return 0
	}
	return b.sizes[selector]
}

// larger counts a value that was taken into the set of an incident.
func (c *content) larger(selector int) {
	big := c.node.rare
	if big == nil || big.sizes == nil {
		return
	}
	for selector >= len(big.sizes) {
		big.sizes = append(big.sizes, 0)
	}
	big.sizes[selector]++
}

// set yields the keys of the values that an incident shows.
func (c *content) set(yield func(key string) bool) {
	for _, key := range c.owned {
		if !yield(key) {
			return
		}
	}
	if c.more == nil {
		return
	}
	for _, key := range c.more.foreign {
		if !yield(key) {
			return
		}
	}
}

// rest is what few incidents have, for changes.
func (c *content) rest() *more {
	if c.more == nil {
		c.more = &more{}
	}
	return c.more
}

// claim takes a value that leads nowhere into an incident, and returns the place of its key.
func (s *Store) claim(c *content, key string, selector int, o *Outcome) (place uint32, ok bool) {
	if s.enter(c, key, selector) {
		return uint32(len(c.owned) - 1), true
	}
	if s.values.beyond+len(key)+keyCost > maxBeyond {
		o.Unindexed++
		return 0, false
	}
	return s.leaveOut(c, key), true
}

// enter takes a value that leads to an incident into its set, unless that is full.
func (s *Store) enter(c *content, key string, selector int) bool {
	switch {
	case s.dismiss(c, key): // it has its place already
	case s.admits(c, selector, len(key)):
		c.larger(selector)
	default:
		return false
	}
	s.include(c, key)
	return true
}

// include takes a key into the set. The list grows slowly, as most incidents stay small.
func (s *Store) include(c *content, key string) {
	s.hold(c, len(key))
	if len(c.owned) == cap(c.owned) {
		c.owned = append(make([]string, 0, len(c.owned)+2+len(c.owned)/4), c.owned...)
	}
	c.owned = append(c.owned, key)
}

// leaveOut keeps a key beside the set, and returns its place.
func (s *Store) leaveOut(c *content, key string) uint32 {
	m := c.rest()
	m.beyond = append(m.beyond, key)
	s.values.beyond += len(key) + keyCost
	return uint32(len(m.beyond)-1) | outside
}

// admit takes a value into the set of an incident that was left out of it, because there is
// room now.
func (s *Store) admit(c *content, x *slot, selector int) {
	at, last := x.place&^outside, uint32(len(c.more.beyond)-1)
	key, moved := c.more.beyond[at], c.more.beyond[last]
	s.slotOf(moved).place = at | outside
	rest := slices.Clone(c.more.beyond)
	rest[at] = moved
	c.more.beyond = slices.Clip(rest[:last])
	s.values.beyond -= len(key) + keyCost
	s.include(c, key)
	c.larger(selector)
	x.place = uint32(len(c.owned) - 1)
}

// slotOf is the slot of a key that has one.
func (s *Store) slotOf(key string) *slot {
	s.text = append(s.text[:0], key...)
	return s.find(s.values.hash(s.text), s.text)
}

// foreign finds the foreign keys of an incident.
func (c *content) foreign() map[string]struct{} {
	big := c.node.big()
	if big.foreign == nil {
		big.foreign = make(map[string]struct{})
		if c.more != nil {
			for _, key := range c.more.foreign {
				big.foreign[key] = struct{}{}
			}
		}
	}
	return big.foreign
}

// host takes a value into the set of an incident, if there is room, that does not lead to it.
func (s *Store) host(c *content, key string, selector int) {
	all := c.foreign()
	if _, is := all[key]; is || !s.admits(c, selector, len(key)) {
		return
	}
	key = strings.Clone(key) // it lies among those of another incident
	m := c.rest()
	m.foreign = append(m.foreign, key)
	all[key] = struct{}{}
	s.hold(c, len(key))
	c.larger(selector)
}

// dismiss takes a key out of the foreign keys of an incident, and reports whether it was one.
func (s *Store) dismiss(c *content, key string) bool {
	if c.more == nil || len(c.more.foreign) == 0 {
		return false
	}
	all := c.foreign()
	if _, is := all[key]; !is {
		return false
	}
	delete(all, key)
	s.hold(c, -len(key))
	at := slices.Index(c.more.foreign, key)
	c.more.foreign = slices.Concat(c.more.foreign[:at], c.more.foreign[at+1:])
	return true
}
