package incident

import (
	"encoding/binary"

	"github.com/sluicehq/sluice/graph"
)

// pair is a selector and its value in the result in hand.
type pair struct {
	selector int // number
	from, to int // of the key, in Store.pairText
	hash     uint64
	owner    *node
	place    uint32
	known    bool // it has a slot
	weak     bool // it has occurred too often to join two incidents
}

// join is the incident that the values of a result lead to, nil if there is none. If they
// lead to several, these become one.
func (s *Store) join(r *graph.Result, now int64, o *Outcome) *node {
	if len(s.values.unowned) > maxUnowned || s.values.unownedBytes > maxBeyond {
		s.sweep()
	}
	s.read(r, o)
	if len(s.pairs) == 0 {
		return nil
	}
	s.reach()
	var n *node
	if len(s.touch) == 0 {
		c := s.open(r, len(s.pairText), now, o)
		if c == nil {
			s.setUnowned()
			return nil
		}
		c.id, n = s.newID(), c.node
		c.owned = make([]string, 0, len(s.pairs))
	} else {
		n = s.unite()
	}
	s.takeAll(n, o)
	clear(s.touch)
	return n
}

// read looks up the values of a result.
func (s *Store) read(r *graph.Result, o *Outcome) {
	s.pairs, s.pairText = s.pairs[:0], s.pairText[:0]
	for i := range s.config.Entities {
		p := pair{selector: s.numbers[i], from: len(s.pairText)}
		text := binary.AppendUvarint(s.pairText, uint64(p.selector))
		value := len(text)
		text, ok := s.config.Entities[i].AppendText(text, r)
		if !ok || len(text) == value {
			continue
		}
		text = valid(text, value)
		if _, stops := s.stop[string(text[value:])]; stops {
			o.StopValues++
			continue
		}
		s.pairText, p.to = text, len(text)
		key := text[p.from:p.to]
		p.hash = s.values.hash(key)
		occurred := uint32(1)
		if x := s.find(p.hash, key); x != nil {
			p.known, p.owner, p.place, occurred = true, x.owner, x.place, x.occur()
		}
		if p.weak = int64(occurred) > int64(s.config.MaxCardinality); p.weak {
			o.Ceiling++
		}
		s.pairs = append(s.pairs, p)
	}
}

// reach finds the incidents that the pairs lead to: all that strong ones lead to, else the
// first of a weak one.
func (s *Store) reach() {
	s.touch = s.touch[:0]
	for i := range s.pairs {
		if p := &s.pairs[i]; p.owner != nil && !p.weak && !contains(s.touch, p.owner) {
			s.touch = append(s.touch, p.owner)
		}
	}
	for i := range s.pairs {
		if len(s.touch) > 0 {
			return
		}
		if p := &s.pairs[i]; p.owner != nil {
			s.touch = append(s.touch, p.owner)
		}
	}
}

func contains(all []*node, n *node) bool {
	for _, x := range all {
		if x == n {
			return true
		}
	}
	return false
}

// setUnowned keeps the counts of values that found no incident, up to the next tick.
func (s *Store) setUnowned() {
	for i := range s.pairs {
		if p := &s.pairs[i]; !p.known {
			s.values.addUnowned(p.hash, string(s.pairText[p.from:p.to]))
		}
	}
}

// takeAll takes the pairs into an incident.
func (s *Store) takeAll(n *node, o *Outcome) {
	merged, fresh := len(s.touch) > 1, s.fresh()
	for i := range s.pairs {
		p := &s.pairs[i]
		if !merged && p.owner == n && p.place&outside == 0 {
			continue // as nearly always
		}
		c := s.own(n)
		key := s.pairText[p.from:p.to]
		if !p.known {
			k := fresh[:len(key)]
			fresh = fresh[len(key):]
			if place, ok := s.claim(c, k, p.selector, o); ok {
				s.values.add(p.hash, slot{n, place, 1})
			} else {
				s.values.addUnowned(p.hash, k)
			}
			continue
		}
		switch x := s.find(p.hash, key); x.owner {
		case nil:
			if place, ok := s.claim(c, s.keyOf(x), p.selector, o); ok {
				s.values.unowned[x.place] = ""
				x.owner, x.place = n, place
			}
		case n:
			if x.place&outside != 0 && s.admits(c, p.selector, p.to-p.from) {
				s.admit(c, x, p.selector)
			}
		default:
			s.host(c, s.keyOf(x), p.selector)
		}
	}
}

// fresh is the text of all keys that have no slot, so that they lie in one piece.
func (s *Store) fresh() string {
	s.line = s.line[:0]
	for i := range s.pairs {
		if p := &s.pairs[i]; !p.known {
			s.line = append(s.line, s.pairText[p.from:p.to]...)
		}
	}
	return string(s.line)
}

// unite makes one incident of those that a result leads to: the oldest takes in the others.
func (s *Store) unite() *node {
	oldest := s.touch[0]
	for _, other := range s.touch[1:] {
		if s.all[other.at].first < s.all[oldest.at].first {
			oldest = other
		}
	}
	n := oldest
	for _, other := range s.touch {
		if other != oldest {
			n = s.merge(n, other)
		}
	}
	return n
}
