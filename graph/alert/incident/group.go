package incident

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"
	"strconv"
	"unicode/utf8"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/selector"
	"github.com/sluicehq/sluice/sigma/event"
)

// group is what the results of an incident have in common.
type group struct {
	key    string // selectors and texts of their values, with the lengths in front
	object []byte // selectors and values, of the first result
}

// size is how many bytes it holds.
func (g *group) size() int { return len(g.key) + cap(g.object) }

// absent is the text of a value that is not there.
const absent = "null"

// group is the incident of a result's values, nil if there are too many.
func (s *Store) group(r *graph.Result, now int64, o *Outcome) *node {
	s.text = s.text[:0]
	for i := range s.config.By {
		s.text = appendPart(s.text, s.config.By[i].String())
		s.line = appendValue(s.line[:0], &s.config.By[i], r)
		s.text = appendPart(s.text, s.line)
	}
	if n, ok := s.keys[string(s.text)]; ok {
		return n
	}
	c := s.open(r, 2*len(s.text), now, o)
	if c == nil {
		return nil
	}
	c.by = &group{string(s.text), appendGroup(nil, s.config.By, r)}
	s.hold(c, c.by.size())
	c.id = s.groupID(c.by.key, r)
	s.keys[c.by.key], s.ids[c.id] = c.node, c.node
	return c.node
}

// appendPart appends a part of a key, with its length in front.
func appendPart[T string | []byte](dst []byte, part T) []byte {
	dst = append(strconv.AppendInt(dst, int64(len(part)), 10), ':')
	return append(dst, part...)
}

// appendValue appends the text of a result's value, in UTF-8.
func appendValue(dst []byte, sel *selector.Selector, r *graph.Result) []byte {
	start := len(dst)
	dst, ok := sel.AppendText(dst, r)
	if !ok {
		return append(dst[:start], absent...)
	}
	return valid(dst, start)
}

// valid replaces what is no UTF-8 from start on.
func valid(dst []byte, start int) []byte {
	if utf8.Valid(dst[start:]) {
		return dst
	}
	return append(dst[:start], event.AppendValid(nil, dst[start:])...)
}

// appendGroup appends a JSON object of selectors and the values of a result.
func appendGroup(dst []byte, by []selector.Selector, r *graph.Result) []byte {
	dst = append(dst, '{')
	for i, sel := range distinct(by) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(event.AppendQuoted(dst, sel.String()), ':')
		var ok bool
		if dst, ok = sel.AppendJSON(dst, r); !ok {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, '}')
}

// groupID is the id of a group: 16 hexadecimal digits, and more if another open incident
// has those.
func (s *Store) groupID(key string, r *graph.Result) string {
	h := fnv.New64a()
	for i := range s.config.By {
		s.line = append(append(s.line[:0], 0x1f), s.config.By[i].String()...)
		s.line = appendValue(append(s.line, '='), &s.config.By[i], r)
		_, _ = h.Write(s.line) // never fails
	}
	id := hex.EncodeToString(h.Sum(nil))
	if _, taken := s.ids[id]; !taken {
		return id
	}
	return s.another(id, key)
}

// another makes an id that no open incident has, of one that is taken.
func (s *Store) another(id, key string) string {
	sum := sha256.Sum256([]byte(key))
	long := id
	for n := 4; n <= len(sum); n += 4 {
		long = id + "-" + hex.EncodeToString(sum[:n])
		if _, taken := s.ids[long]; !taken {
			break
		}
	}
	return long
}

// distinct are the selectors without those that come a second time.
func distinct(all []selector.Selector) []selector.Selector {
	seen := make(map[string]bool, len(all))
	once := make([]selector.Selector, 0, len(all))
	for _, sel := range all {
		if !seen[sel.String()] {
			seen[sel.String()] = true
			once = append(once, sel)
		}
	}
	return once
}
