package scan

import (
	"bytes"

	"github.com/sluicehq/sluice/sigma/event"
)

// key is a key as it was met in lines: where it leads and what came next.
type key struct {
	spelled string // quoted, with the colon
	parent  int32
	node    int32
	next    *key // the key that followed last time
	first   *key // the first key of an object that was its value
}

// memory holds the keys met so far. It is bounded: a key beyond the bound, or
// too long, is looked up in the table every time.
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
// remembered of it, if anything, and the position behind the colon. Next
// predicts the key and is corrected.
func (s *Scanner) key(i int, at int32, next **key) (*key, int32, int) {
	b := s.line
	if k := *next; k != nil && k.parent == at {
		if n := i + len(k.spelled); n <= len(b) && string(b[i:n]) == k.spelled {
			return k, k.node, n
		}
	}
	if i >= len(b) || b[i] != '"' {
		return nil, 0, -1
	}
	end, flags := scanString(b, i)
	if end < 0 {
		return nil, 0, -1
	}
	quoted := b[i:end]
	i = skipSpace(b, end)
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
	if len(quoted) > maxKeyLength || len(s.keys.keys) >= maxKeys {
		return nil, child, i + 1
	}
	k := &key{spelled: string(bytes.Join([][]byte{quoted, {':'}}, nil)), parent: at, node: child}
	s.keys.keys[memoryKey{at, string(quoted)}] = k
	*next = k
	return k, child, i + 1
}
