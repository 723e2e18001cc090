package silence

import (
	"strings"

	"github.com/sluicehq/sluice/sigma/event"
)

// lookup is where columns stand of which a result has a value or not.
type lookup interface {
	show(c *column) // searches look at it from now on
	hide(c *column)
}

// The beginnings of selectors.
const (
	inFields      = "match."
	inGroups      = "correlation.group_key."
	inEnrichments = "enrichment."
)

// list is columns that every search looks at.
type list []*column

func (l *list) show(c *column) { *l = append(*l, c) }
func (l *list) hide(c *column) { *l = without(*l, c) }

// byName is columns of one name each.
type byName map[string]*column

func (b byName) show(c *column) { b[nameOf(c)] = c }
func (b byName) hide(c *column) { delete(b, nameOf(c)) }

// nameOf is a selector without inFields or inGroups.
func nameOf(c *column) string {
	text := c.selector.String()
	if name, ok := strings.CutPrefix(text, inFields); ok {
		return name
	}
	return strings.TrimPrefix(text, inGroups)
}

// byKey is columns of enrichments, by the keys that an enrichment may have under which
// their value stands: their whole path, and its first step.
type byKey struct {
	all     list
	keys    map[string]list
	scratch []byte
}

func (b *byKey) show(c *column) {
	b.all.show(c)
	for key := range keysOf(c) {
		l := b.keys[key]
		l.show(c)
		b.keys[key] = l
	}
}

func (b *byKey) hide(c *column) {
	b.all.hide(c)
	for key := range keysOf(c) {
		l := b.keys[key]
		l.hide(c)
		b.keys[key] = l
		if len(l) == 0 {
			delete(b.keys, key)
		}
	}
}

func keysOf(c *column) func(yield func(string) bool) {
	path := strings.TrimPrefix(c.selector.String(), inEnrichments)
	first, _, more := strings.Cut(path, ".")
	return func(yield func(string) bool) {
		if yield(path) && more {
			yield(first)
		}
	}
}

// fewColumns is how many columns of enrichments are rather read one by one than by going
// through the enrichments of the result.
const fewColumns = 8

// search looks at the columns of which the result may have a value.
func (b *byKey) search(s *search) bool {
	if len(b.all) == 0 || len(s.r.Enrichments) == 0 {
		return false
	}
	if len(b.all) <= fewColumns {
		return s.list(b.all)
	}
	for key := range event.ValueOf(s.r.Enrichments).Members {
		b.scratch = event.AppendUnquoted(b.scratch[:0], key)
		if s.list(b.keys[string(b.scratch)]) {
			return true
		}
	}
	return false
}

// without returns the list without one of its entries; the last takes its place.
func without[T comparable](list []T, one T) []T {
	for i := range list {
		if list[i] == one {
			last := len(list) - 1
			list[i] = list[last]
			clear(list[last:])
			return list[:last]
		}
	}
	return list
}
