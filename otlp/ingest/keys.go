package ingest

import (
	"bytes"
	"hash/maphash"
	"unicode/utf8"
)

const (
	// maxKeys is how many keys are remembered. When there are more, all are forgotten.
	maxKeys = 1024
	// longestKey is how long they are at most.
	longestKey = 64
	keySlots   = 2 * maxKeys
)

// keys remembers the keys of attributes, how they are written, and in which order they
// came, since the next record has most likely the same ones.
type keys struct {
	list  []key // the first one stands for the beginning of a record
	slots []uint16
	last  int    // in list, the key before
	now   uint32 // the number of the record
	full  bool
}

// key is one of them.
type key struct {
	name  []byte
	text  []byte // as it begins a member, with the comma before it and the colon behind it
	seen  uint32 // the record that had it last
	next  uint16 // the one that came behind it
	apart bool   // other members of the event may have the same key
}

// begin begins another record.
func (k *keys) begin() {
	k.last = 0
	if k.now++; k.now == 0 || k.full || len(k.list) == 0 {
		*k = keys{list: append(k.list[:0], key{apart: true}), slots: make([]uint16, keySlots), now: 1}
	}
}

// once returns the key of a member that the record does not have yet. It is nil for a
// key that the record has, that other members may have, or that is not remembered.
func (k *keys) once(name []byte) *key {
	at := int(k.list[k.last].next)
	if !bytes.Equal(k.list[at].name, name) {
		if at = k.find(name); at == 0 {
			return nil
		}
		k.list[k.last].next = uint16(at)
	}
	found := &k.list[at]
	if found.apart || found.seen == k.now {
		return nil
	}
	found.seen, k.last = k.now, at
	return found
}

// find returns where a key is in the list, to which it may be added; 0 stands for none.
func (k *keys) find(name []byte) int {
	if len(name) > longestKey {
		return 0
	}
	slot := maphash.Bytes(seed, name) % keySlots
	for ; k.slots[slot] != 0; slot = (slot + 1) % keySlots {
		if at := int(k.slots[slot]); bytes.Equal(k.list[at].name, name) {
			return at
		}
	}
	if !utf8.Valid(name) {
		return 0
	}
	if len(k.list) > maxKeys {
		k.full = true
		return 0
	}
	text := appendString(append(make([]byte, 0, 2*len(name)+16), ','), name)
	k.slots[slot] = uint16(len(k.list))
	k.list = append(k.list, key{name: bytes.Clone(name), text: append(text, ':'), apart: fixedKey(name)})
	return len(k.list) - 1
}

// fixedKey reports whether a member that is none of the attributes may have a key.
func fixedKey(name []byte) bool {
	for _, k := range []known{keyTime, keyObserved, keySeverity, keyLevel, keyBody, keyTrace, keySpan} {
		if bytes.Equal(k.key, name) {
			return true
		}
	}
	return bytes.HasPrefix(name, resourcePrefix) || bytes.HasPrefix(name, scopePrefix)
}
