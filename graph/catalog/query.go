package catalog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Order is how a list is sorted. Rules that are equal in it keep the order in which
// they were loaded.
type Order string

// The orders of lists.
const (
	Loaded    Order = "loaded"   // as they were loaded, detections first
	ByTitle   Order = "title"    // letters regardless of case
	ByLevel   Order = "level"    // the most severe first, rules without a level last
	ByFile    Order = "file"     // and by document in it
	ByHits    Order = "hits"     // the most first
	ByLastHit Order = "last_hit" // the latest first, rules that never had one last
)

// Orders are all of them.
var Orders = [...]Order{Loaded, ByTitle, ByLevel, ByFile, ByHits, ByLastHit}

// Query says which rules of a catalog are listed. The zero value lists all of them.
// Parts of the log source are compared regardless of case.
type Query struct {
	Level                      *ast.Level
	Product, Category, Service *string // empty: rules that do not name one
	Text                       string  // in the title or the id, regardless of case
	Hit                        *bool   // whether the rule has ever met anything
	Order                      Order   // empty is Loaded
	Offset, Limit              int     // Limit 0 is no limit
}

// Listed is an entry with its hits at one moment.
type Listed struct {
	*Entry
	Hits uint64
	Last time.Time // zero is never
}

// Page returns the rules that q asks for, and how many there are without its Offset
// and Limit.
func (c *Catalog) Page(q Query) (page []Listed, total int) {
	var all []Listed
	text := strings.ToLower(q.Text)
	for i := range c.entries {
		e := &c.entries[i]
		if !q.accepts(e, text) {
			continue
		}
		n, last := e.Tally.Hits()
		if q.Hit != nil && *q.Hit != (n > 0) {
			continue
		}
		all = append(all, Listed{e, n, last})
	}
	if less := comparisons[q.Order]; less != nil {
		slices.SortStableFunc(all, less)
	}
	from := min(q.Offset, len(all))
	to := len(all)
	if q.Limit > 0 {
		to = min(to, from+q.Limit)
	}
	return all[from:to], len(all)
}

func (q *Query) accepts(e *Entry, text string) bool {
	is := func(want *string, has string) bool { return want == nil || strings.EqualFold(*want, has) }
	return (q.Level == nil || *q.Level == e.Level) &&
		is(q.Product, e.Logsource.Product) && is(q.Category, e.Logsource.Category) && is(q.Service, e.Logsource.Service) &&
		(text == "" || strings.Contains(strings.ToLower(e.Title), text) || strings.Contains(strings.ToLower(e.ID), text))
}

var comparisons = map[Order]func(a, b Listed) int{
	ByTitle: func(a, b Listed) int { return cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)) },
	ByLevel: func(a, b Listed) int { return cmp.Compare(b.Level, a.Level) },
	ByFile: func(a, b Listed) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Document, b.Document))
	},
	ByHits:    func(a, b Listed) int { return cmp.Compare(b.Hits, a.Hits) },
	ByLastHit: func(a, b Listed) int { return b.Last.Compare(a.Last) },
}
