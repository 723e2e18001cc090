package scan

import (
	"math"
	"slices"

	"github.com/sluicehq/sluice/sigma/event"
)

// key is a key as it was met in lines: where it leads and what came next.
type key struct {
	spelled    string // quoted, with the colon
	head, tail uint64 // the outermost bytes of spelled, as many as a word has
	mask       uint64 // of head, where spelled is shorter
	parent     int32
	node       int32
	lone       bool // a string below it is at most one cell, as follows
	flags      Flags
	rank       uint16
	field      uint32
	next       *key // the key that followed last time
	first      *key // the first key of an object that was its value
}

// word is how many bytes are compared at once.
const word = 8

func newKey(quoted []byte, parent, node int32) *key {
	spelled := append(slices.Clip(quoted), ':')
	n := len(spelled)
	k := &key{spelled: string(spelled), parent: parent, node: node}
	if n < word {
		k.head, k.mask = load(append(spelled, make([]byte, word)...), 0), 1<<(8*n)-1
	} else {
		k.head, k.tail, k.mask = load(spelled, 0), load(spelled, n-word), math.MaxUint64
	}
	return k
}

// begins reports whether the first bytes at i are those of the key, and whether
// there is room for the others. Where the line is about to end it may be wrong
// about a short key.
func (k *key) begins(b []byte, i int) bool {
	return i+max(len(k.spelled), word) <= len(b) && load(b, i)&k.mask == k.head
}

// goesOn reports whether a key that begins at i stands there whole.
func (k *key) goesOn(b []byte, i int) bool {
	n := len(k.spelled)
	return n <= word || load(b, i+n-word) == k.tail && (n <= 2*word || string(b[i+word:i+n-word]) == k.spelled[word:n-word])
}

// memory holds the keys met so far. It is bounded: beyond the bound it begins anew, and
// a key that is too long is looked up in the table every time.
type memory struct {
	keys    map[memoryKey]*key
	first   *key
	nowhere *key
}

type memoryKey struct {
	node int32
	name string // quoted
}

const (
	maxKeys      = 8192
	maxKeyLength = 128
)

func newMemory() memory { return memory{keys: make(map[memoryKey]*key)} }

// key reads the key at i and its colon. It returns where the key leads, what is
// remembered of it, if anything, and the position behind the colon. Next had
// predicted another key and is corrected.
func (s *Scanner) key(i int, at int32, next **key) (*key, int32, int) {
	b := s.line
	if i >= len(b) || b[i] != '"' {
		return nil, 0, -1
	}
	end, flags := scanString(b, i)
	if end < 0 {
		return nil, 0, -1
	}
	quoted := b[i:end]
	i = SkipSpace(b, end)
	if i >= len(b) || b[i] != ':' {
		return nil, 0, -1
	}
	if k := s.keys.keys[memoryKey{at, string(quoted)}]; k != nil {
		*next = k
		return k, k.node, i + 1
	}
	name := quoted[1 : len(quoted)-1]
	if flags&(Escaped|High) != 0 {
		name = event.AppendUnquoted(nil, quoted)
	}
	child := s.table.lookup(at, name)
	if len(quoted) > maxKeyLength {
		return nil, child, i + 1
	}
	if len(s.keys.keys) >= maxKeys {
		s.keys = newMemory()
	}
	k := newKey(quoted, at, child)
	if k.lone, k.field, k.rank = s.table.lone(child); k.field != 0 {
		k.flags = Terminal
	}
	s.keys.keys[memoryKey{at, string(quoted)}] = k
	*next = k
	return k, child, i + 1
}
