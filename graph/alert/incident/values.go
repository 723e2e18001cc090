package incident

import (
	"hash/maphash"
	"math"
	"math/bits"
)

// values is an index of the values of entity graphs: how often each has occurred, and which
// incident it leads to. It knows keys only by their hash: the text of a key is held by its
// incident, or by Store.unowned. So it takes 20 bytes for a value, and a bit of room. Its parts grow
// on their own, so that none of them takes long.
type values struct {
	seed    maphash.Seed
	parts   []part // nil until the first value
	unowned []string
	// unownedBytes is how many bytes were taken into unowned since it was emptied.
	unownedBytes int
	// beyond is how many bytes the keys hold that did not fit into sets.
	beyond int
}

const parts = 256

// part is a hash table with linear probing.
type part struct {
	hashes []uint32 // empty is 0
	slots  []slot
	n      int
}

// slot is a value.
type slot struct {
	owner *node  // nil for none
	place uint32 // of its key: in content.owned, or with outside, in more.beyond; without an owner in values.unowned
	count uint32 // of its occurrences
}

// outside marks the places of keys that did not fit into the set of their incident.
const outside = 1 << 31

// Limits of what is kept of values that no incident shows.
const (
	maxBeyond  = 64 << 20 // bytes of keys that fit into no set, and of those that lead nowhere
	maxUnowned = 1 << 16  // keys
	keyCost    = 56       // bytes of a key beside its text
)

func (v *values) hash(key []byte) uint64 {
	if v.parts == nil {
		v.seed, v.parts = maphash.MakeSeed(), make([]part, parts)
	}
	return maphash.Bytes(v.seed, key)
}

func (v *values) part(hash uint64) *part { return &v.parts[hash>>56] }

// short is what a slot is found by.
func short(hash uint64) uint32 { return uint32(hash) | 1 }

// home is where the search for a hash begins.
func (p *part) home(h uint32) int {
	at, _ := bits.Mul32(h, uint32(len(p.hashes)))
	return int(at)
}

func (p *part) next(i int) int {
	if i++; i == len(p.hashes) {
		return 0
	}
	return i
}

// find is the slot of a key, nil if it has none. It is valid until a slot is added or
// deleted.
func (s *Store) find(hash uint64, key []byte) *slot {
	p, h := s.values.part(hash), short(hash)
	if p.n == 0 {
		return nil
	}
	for i := p.home(h); p.hashes[i] != 0; i = p.next(i) {
		if p.hashes[i] == h && s.keyOf(&p.slots[i]) == string(key) {
			return &p.slots[i]
		}
	}
	return nil
}

// keyOf is the key of a slot.
func (s *Store) keyOf(x *slot) string {
	switch {
	case x.owner == nil:
		return s.values.unowned[x.place]
	case x.place&outside != 0:
		return s.all[x.owner.at].more.beyond[x.place&^outside]
	}
	return s.all[x.owner.at].owned[x.place]
}

// add takes in a value that has no slot.
func (v *values) add(hash uint64, x slot) {
	p := v.part(hash)
	if 4*(p.n+1) > 3*len(p.hashes) {
		p.resize(max(8, p.n+p.n/4+p.n/2))
	}
	p.put(short(hash), x)
	p.n++
}

func (p *part) put(h uint32, x slot) {
	i := p.home(h)
	for p.hashes[i] != 0 {
		i = p.next(i)
	}
	p.hashes[i], p.slots[i] = h, x
}

func (p *part) resize(size int) {
	old := *p
	p.hashes, p.slots = make([]uint32, size), make([]slot, size)
	for i, h := range old.hashes {
		if h != 0 {
			p.put(h, old.slots[i])
		}
	}
}

// drop takes out a value.
func (s *Store) drop(key string) {
	s.text = append(s.text[:0], key...)
	hash := s.values.hash(s.text)
	p, h := s.values.part(hash), short(hash)
	if p.n == 0 {
		return
	}
	i := p.home(h)
	for ; p.hashes[i] != h || s.keyOf(&p.slots[i]) != key; i = p.next(i) {
		if p.hashes[i] == 0 {
			return
		}
	}
	p.clear(i)
	if p.n--; len(p.hashes) > 64 && 4*p.n < len(p.hashes) {
		p.resize(2 * p.n)
	}
}

// clear empties place i, and moves up what would no longer be found behind it.
func (p *part) clear(i int) {
	for j := p.next(i); p.hashes[j] != 0; j = p.next(j) {
		// What is at j may move to i unless its search begins behind i.
		if home := p.home(p.hashes[j]); (j-home+len(p.hashes))%len(p.hashes) < (j-i+len(p.hashes))%len(p.hashes) {
			continue
		}
		p.hashes[i], p.slots[i] = p.hashes[j], p.slots[j]
		i = j
	}
	p.hashes[i], p.slots[i] = 0, slot{}
}

// forget drops the values that lead to an incident.
func (s *Store) forget(c *content) {
	for _, key := range c.owned {
		s.drop(key)
	}
	if c.more == nil {
		return
	}
	for _, key := range c.more.beyond {
		s.drop(key)
		s.values.beyond -= len(key) + keyCost
	}
}

// addUnowned takes in a value that leads nowhere.
func (v *values) addUnowned(hash uint64, key string) {
	v.add(hash, slot{place: uint32(len(v.unowned)), count: 1})
	v.unowned = append(v.unowned, key)
	v.unownedBytes += len(key) + keyCost
}

// sweep drops the values that lead nowhere.
func (s *Store) sweep() {
	if len(s.values.unowned) == 0 {
		return
	}
	for _, key := range s.values.unowned {
		if key == "" {
			continue // it has found an incident
		}
		s.drop(key)
	}
	clear(s.values.unowned)
	s.values.unowned, s.values.unownedBytes = s.values.unowned[:0], 0
}

// occur counts an occurrence, and returns how many there were.
func (x *slot) occur() uint32 {
	if x.count < math.MaxUint32 {
		x.count++
	}
	return x.count
}
