package correlation

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
)

// Entry is one correlation as GET /api/v1/correlations lists it.
type Entry struct {
	Index        int                 `json:"index"`
	ID           string              `json:"id,omitempty"`
	Name         string              `json:"name,omitempty"`
	Title        string              `json:"title"`
	Type         ast.CorrelationType `json:"type"`
	TimespanSecs int64               `json:"timespan_secs"`
	Window       ast.Window          `json:"window"`
	GapSecs      int64               `json:"gap_secs,omitempty"`
	GroupBy      []string            `json:"group_by"`
	RuleRefs     []string            `json:"rule_refs"`
	Threshold    string              `json:"threshold"`
	ActiveGroups int                 `json:"active_groups"`
}

// KeyPart is one part of a group key; Value is nil when it is missing.
type KeyPart struct {
	Field string  `json:"field"`
	Value *string `json:"value,omitempty"`
}

// GroupEntry is one group of a listing.
type GroupEntry struct {
	CorrelationIndex     int                 `json:"correlation_index"`
	CorrelationID        string              `json:"correlation_id,omitempty"`
	CorrelationName      string              `json:"correlation_name,omitempty"`
	CorrelationTitle     string              `json:"correlation_title"`
	Type                 ast.CorrelationType `json:"type"`
	GroupKey             []KeyPart           `json:"group_key"`
	GroupKeyDisplay      string              `json:"group_key_display"`
	Got                  *float64            `json:"got,omitempty"`
	Threshold            string              `json:"threshold"`
	Met                  bool                `json:"met"`
	Entries              int                 `json:"entries"`
	Earliest             *int64              `json:"earliest,omitempty"`
	Latest               *int64              `json:"latest,omitempty"`
	TimespanSecs         int64               `json:"timespan_secs"`
	SecondsToEviction    *int64              `json:"seconds_to_eviction,omitempty"`
	LastAlert            *int64              `json:"last_alert,omitempty"`
	SuppressSecs         *int64              `json:"suppress_secs,omitempty"`
	SuppressionRemaining *int64              `json:"suppression_remaining,omitempty"`
	Window               any                 `json:"window,omitempty"` // a *WindowEntries

	place Place
}

// Place is where a group stands in the order of a listing, whatever becomes of the
// other groups.
type Place struct {
	state        int
	display, key string

	order *Order // in which it was found; nil without
	next  int    // place behind it there
}

// Place is where the group stands.
func (g *GroupEntry) Place() Place { return g.place }

// Order is the order in which the group was found, nil when it was found without, and
// the place behind it there.
func (p *Place) Order() (o *Order, next int) { return p.order, p.next }

func (p *Place) compare(q *Place) int {
	return cmp.Or(cmp.Compare(p.state, q.state), strings.Compare(p.display, q.display), strings.Compare(p.key, q.key))
}

// Filter chooses what is listed. The zero value lists everything.
type Filter struct {
	ID       string // equal to id, name or title
	Group    string // part of the displayed key
	After    *Place // groups behind it; nil for all
	Offset   int
	Limit    int  // 0 is no limit
	NoWindow bool // leave the entries out
}

// Entries lists the correlations that pass the filter's ID, in their order.
func (v *View) Entries(filter Filter) []Entry {
	list := []Entry{}
	for i := range v.states {
		st := &v.states[i]
		if !filter.accepts(st.c) {
			continue
		}
		s := st.c.Source
		e := Entry{
			Index: i, ID: s.ID, Name: s.Name, Title: s.Title, Type: s.Type,
			TimespanSecs: st.c.Span, Window: s.Window, GapSecs: st.c.Gap,
			GroupBy: append([]string{}, s.GroupBy...), RuleRefs: append([]string{}, s.Refs...),
			Threshold: st.c.Condition.Text, ActiveGroups: st.live,
		}
		list = append(list, e)
	}
	return list
}

// reaches reports whether groups of a correlation may pass.
func (f *Filter) reaches(state int, c *program.Correlation) bool {
	return f.accepts(c) && (f.After == nil || state >= f.After.state)
}

// passes reports whether a group of such a correlation does.
func (f *Filter) passes(p *Place) bool {
	return strings.Contains(p.display, f.Group) && (f.After == nil || p.compare(f.After) > 0)
}

func (f *Filter) accepts(c *program.Correlation) bool {
	return f.ID == "" || f.ID == c.Source.ID || f.ID == c.Source.Name || f.ID == c.Source.Title
}

// State lists the groups that pass the filter, by correlation and displayed key,
// and returns how many there are before Offset and Limit.
func (v *View) State(filter Filter) (list []GroupEntry, count int) {
	groups, count := v.Each(filter)
	list = []GroupEntry{}
	for g := range groups {
		list = append(list, g)
	}
	return list, count
}

// Each gives what State lists one after another, so that they are never in memory
// together: with many groups and long windows they are large. With a limit, the cost
// grows with the number of groups and hardly with the order they are in.
func (v *View) Each(filter Filter) (groups iter.Seq[GroupEntry], count int) {
	var hits []hit
	most := math.MaxInt / 4
	if filter.Limit > 0 {
		most = filter.Offset + filter.Limit
	}
	for i := range v.states {
		if st := &v.states[i]; filter.reaches(i, st.c) {
			var n int
			hits, n = st.hits(hits, i, &filter, most-len(hits))
			count += n
		}
	}
	hits = hits[min(filter.Offset, len(hits)):]
	if filter.Limit > 0 {
		hits = hits[:min(filter.Limit, len(hits))]
	}
	return func(yield func(GroupEntry) bool) {
		for _, h := range hits {
			if !yield(v.states[h.state].entry(&h, !filter.NoWindow)) {
				return
			}
		}
	}, count
}

// hit is a group that passes a filter.
type hit struct {
	Place
	group *group
}

// hits appends the first groups, room at most, that pass the filter, in their order.
// It returns how many pass it.
func (st *stateView) hits(dst []hit, state int, filter *Filter, most int) ([]hit, int) {
	from, passed := len(dst), 0
	first := func() {
		slices.SortFunc(dst[from:], func(a, b hit) int { return a.compare(&b.Place) })
		dst = dst[:min(len(dst), from+most)]
	}
	sorted := false // dst[from:] has the first so far
	for _, g := range st.groups {
		if g == nil || g.tombstone {
			continue
		}
		h := hit{Place{state: state, display: st.c.Display(g.key), key: g.key}, g}
		if !filter.passes(&h.Place) {
			continue
		}
		passed++
		if most == 0 || sorted && h.compare(&dst[from+most-1].Place) > 0 {
			continue
		}
		if dst = append(dst, h); len(dst)-from >= 2*most+minHits {
			first()
			sorted = true
		}
	}
	first()
	return dst, passed
}

// minHits is how many groups are collected at least before they are sorted.
const minHits = 1024

func (st *stateView) entry(h *hit, withWindow bool) GroupEntry {
	g := h.group
	c, entries := st.c, st.entries(g)
	e := GroupEntry{
		place: h.Place, CorrelationIndex: h.state, CorrelationID: c.Source.ID, CorrelationName: c.Source.Name,
		CorrelationTitle: c.Source.Title, Type: c.Source.Type, GroupKey: []KeyPart{}, GroupKeyDisplay: h.display,
		Threshold: c.Condition.Text, Entries: entries.Len(), TimespanSecs: c.Span,
	}
	i := 0
	for part, ok := range match.Parts(g.key) {
		p := KeyPart{Field: c.Source.GroupBy[i]}
		if ok {
			p.Value = &part
		}
		e.GroupKey = append(e.GroupKey, p)
		i++
	}
	e.Got, e.Met = c.Condition.Inspect(entries)
	if e.Entries > 0 {
		first, last := entries.First(), entries.Last()
		left := max(0, first-last+c.Span)
		e.Earliest, e.Latest, e.SecondsToEviction = &first, &last, &left
	}
	if g.hasLast {
		e.LastAlert = new(g.last)
	}
	if c.Suppress > 0 {
		e.SuppressSecs = new(c.Suppress)
		if g.hasLast && e.Latest != nil {
			e.SuppressionRemaining = new(max(0, g.last-*e.Latest+c.Suppress))
		}
	}
	if withWindow {
		e.Window = &WindowEntries{c, entries}
	}
	return e
}

// entries returns the window of g without what the last sweep took from it: a group
// lets go of that only when it is next touched.
func (st *stateView) entries(g *group) window.Window {
	if g.sweep == st.sweeps || g.window.Len() == 0 || g.window.First() >= st.cutoff {
		return g.window
	}
	w, _, err := readWindow(st.c, g.window.Append(nil), st.c.Members)
	if err != nil {
		return g.window
	}
	w.DropBefore(st.cutoff)
	return w
}
