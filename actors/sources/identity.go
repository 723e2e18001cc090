package sources

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/sluicehq/sluice/sigma/event"
)

// identity tells values apart, whatever the order of the keys of their objects and however
// their texts are escaped. Numbers are told apart by how they are written, as rules see
// that. The zero identity is none.
type identity [sha256.Size]byte

// identityOf is that of compact JSON; nil is null.
func identityOf(json []byte) identity {
	switch {
	case isNull(json):
		return sha256.Sum256([]byte("null"))
	case !bytes.ContainsAny(json, `{\`): // there is one way to write it
		return sha256.Sum256(json)
	}
	return sha256.Sum256(appendCanonical(make([]byte, 0, len(json)+len(json)/8), event.ValueOf(json)))
}

func isNull(json []byte) bool { return len(json) == 0 || string(json) == "null" }

func appendCanonical(dst []byte, v event.Value) []byte {
	switch v.Type {
	case event.Object:
		return appendMembers(dst, v)
	case event.Array:
		dst = append(dst, '[')
		for e := range v.Elements {
			dst = appendCanonical(separated(dst), e)
		}
		return append(dst, ']')
	case event.String:
		return event.AppendQuoted(dst, event.AppendUnquoted(nil, v.Raw))
	}
	return append(dst, v.Raw...)
}

func appendMembers(dst []byte, v event.Value) []byte {
	type member struct {
		key   string
		value event.Value
	}
	var list []member
	for k, m := range v.Members {
		list = append(list, member{string(event.AppendUnquoted(nil, k)), m})
	}
	slices.SortStableFunc(list, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for _, m := range list {
		dst = append(event.AppendQuoted(separated(dst), m.key), ':')
		dst = appendCanonical(dst, m.value)
	}
	return append(dst, '}')
}

// separated appends a comma, unless a container begins there.
func separated(dst []byte) []byte {
	if last := dst[len(dst)-1]; last == '[' || last == '{' {
		return dst
	}
	return append(dst, ',')
}
