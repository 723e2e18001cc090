package dedup

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"math"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/selector"
)

// A key is the full text of a fingerprint: the key of the rule, and each selector with the
// text of its value. Every part has its length in front, so that no value can look like the
// parts of others. In place of a value that is absent stands a length alone.
const (
	lengthSize   = 4
	absentLength = math.MaxUint32
)

func appendPart[T string | []byte](dst []byte, text T) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(text))), text...)
}

func appendAbsent(dst []byte) []byte {
	return binary.LittleEndian.AppendUint32(dst, absentLength)
}

// cut returns the first part of a key, whether it is absent, and what comes behind it.
func cut(key string) (part string, absent bool, rest string) {
	n := binary.LittleEndian.Uint32([]byte(key[:lengthSize]))
	key = key[lengthSize:]
	if n == absentLength {
		return "", true, key
	}
	return key[:n], false, key[n:]
}

// prints makes the keys of results.
type prints struct {
	selectors []selector.Selector
	names     [][]byte // of the selectors, as parts
}

func newPrints(selectors []selector.Selector) prints {
	p := prints{selectors: selectors}
	for i := range selectors {
		p.names = append(p.names, appendPart(nil, selectors[i].String()))
	}
	return p
}

// appendKey appends the key of a result.
func (p *prints) appendKey(dst []byte, r *graph.Result) []byte {
	dst = appendPart(dst, r.RuleKey())
	for i := range p.selectors {
		dst = append(dst, p.names[i]...)
		at := len(dst)
		dst = append(dst, make([]byte, lengthSize)...)
		var there bool
		dst, there = p.selectors[i].AppendText(dst, r)
		n := uint32(absentLength)
		if there {
			n = uint32(len(dst) - at - lengthSize)
		}
		binary.LittleEndian.PutUint32(dst[at:], n)
	}
	return dst
}

// appendFields appends an object of the selectors and their values, null for those that are
// absent.
func (p *prints) appendFields(dst []byte, r *graph.Result) []byte {
	dst = append(dst, '{')
	for i := range p.selectors {
		if p.repeats(i) {
			continue
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendName(dst, p.selectors[i].String()), ':')
		var there bool
		if dst, there = p.selectors[i].AppendJSON(dst, r); !there {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, '}')
}

// repeats reports whether a selector is listed before, too.
func (p *prints) repeats(i int) bool {
	for j := range i {
		if p.selectors[j].String() == p.selectors[i].String() {
			return true
		}
	}
	return false
}

// appendText appends what a key is shown as a digest of.
func appendText(dst []byte, key string) []byte {
	rule, _, rest := cut(key)
	dst = append(append(dst, "rule="...), rule...)
	for rest != "" {
		var name, value string
		var absent bool
		name, _, rest = cut(rest)
		value, absent, rest = cut(rest)
		dst = append(append(append(dst, '\x1f'), name...), '=')
		if absent {
			dst = append(dst, "\x00null"...)
		}
		dst = append(dst, value...)
	}
	return dst
}

// digestOf is the digest that a text is shown as.
func digestOf(text []byte) uint64 {
	h := fnv.New64a()
	h.Write(text) // never fails
	return h.Sum64()
}

// appendDigest appends a digest as records show it. A digest that another alert has already
// gets more digits, from the whole key.
func appendDigest(dst []byte, digest uint64, key string, taken bool) []byte {
	dst = hex.AppendEncode(dst, binary.BigEndian.AppendUint64(nil, digest))
	if taken {
		sum := sha256.Sum256([]byte(key))
		dst = hex.AppendEncode(append(dst, '-'), sum[:4])
	}
	return dst
}
