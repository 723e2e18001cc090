package ingest

import (
	"bytes"
	"hash/maphash"
	"unicode/utf8"
)

// member is a member of an event, before its value is written.
type member struct {
	key    []byte
	hash   uint64
	kind   kind
	value  []byte
	number uint64
}

// kind says how the value of a member is written.
type kind uint8

const (
	kindValue kind = iota // an AnyValue
	kindText
	kindHex
	kindTime
	kindInteger
)

// seed keeps clients from choosing keys that collide.
var seed = maphash.MakeSeed()

// known is a key that is always the same.
type known struct {
	key  []byte
	hash uint64
	text []byte // as it begins a member, with the comma before it
}

func knownKey(key string) known {
	return known{[]byte(key), maphash.Bytes(seed, []byte(key)), []byte(`,"` + key + `":`)}
}

var (
	keyTime     = knownKey("timestamp")
	keyObserved = knownKey("observed_timestamp")
	keySeverity = knownKey("severity_number")
	keyLevel    = knownKey("severity_text")
	keyBody     = knownKey("body")
	keyTrace    = knownKey("trace_id")
	keySpan     = knownKey("span_id")
	keyScope    = knownKey("scope.name")
	keyVersion  = knownKey("scope.version")
)

// members are those of one event, in the order of their first occurrence.
type members struct {
	list []member
	size int // of an event with these keys at least
	used uint32
	slot []slot // a hash table of list; its length is a power of two
}

// slot refers to a member. It is free when it was used by another event.
type slot struct{ used, index uint32 }

// leastSize is what a member takes at least beside its key: quotes, colon, comma, and a value.
const leastSize = 5

// reset begins another event.
func (m *members) reset() {
	m.list, m.size = m.list[:0], 0
	if m.used++; m.used == 0 || len(m.slot) == 0 {
		m.used = 1
		m.slot = make([]slot, max(64, len(m.slot)))
	}
}

// add adds a member. One with the same key that is there already gets the value instead,
// and keeps its place.
func (m *members) add(one member) {
	if 2*len(m.list) >= len(m.slot) {
		m.grow()
	}
	at := m.find(one.hash, one.key)
	if s := m.slot[at]; s.used == m.used {
		m.list[s.index] = one
		return
	}
	m.slot[at] = slot{m.used, uint32(len(m.list))}
	m.list = append(m.list, one)
	m.size += len(one.key) + leastSize
}

// find returns the slot of a key, or the free one where it belongs.
func (m *members) find(hash uint64, key []byte) int {
	mask := len(m.slot) - 1
	for at := int(hash) & mask; ; at = (at + 1) & mask {
		s := m.slot[at]
		if s.used != m.used {
			return at
		}
		if found := &m.list[s.index]; found.hash == hash && bytes.Equal(found.key, key) {
			return at
		}
	}
}

func (m *members) grow() {
	m.slot = make([]slot, 2*len(m.slot))
	for i := range m.list {
		m.slot[m.find(m.list[i].hash, m.list[i].key)] = slot{m.used, uint32(i)}
	}
}

// fixed adds a member with a known key.
func (m *members) fixed(k known, as kind, value []byte, number uint64) {
	m.add(member{key: k.key, hash: k.hash, kind: as, value: value, number: number})
}

// pair adds a KeyValue, unless it has no value.
func (m *members) pair(b []byte) {
	key, value := readPair(b)
	if !value.set {
		return
	}
	key = validKey(key)
	m.add(member{key: key, hash: maphash.Bytes(seed, key), value: value.content})
}

// validKey is a key as it is written: bytes that are no UTF-8 become U+FFFD.
func validKey(key []byte) []byte {
	if utf8.Valid(key) {
		return key
	}
	return []byte(string([]rune(string(key))))
}

// readPair reads a KeyValue.
func readPair(b []byte) (key []byte, value merged) {
	for len(b) > 0 {
		f, n := next(b)
		if n < 0 {
			break
		}
		b = b[n:]
		switch f.tag {
		case pairKey:
			key = f.content
		case pairValue:
			value.add(f.content)
		}
	}
	return key, value
}
