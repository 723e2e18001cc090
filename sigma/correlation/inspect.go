package correlation

import (
	"iter"
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

// GroupEntry is one group as GET /api/v1/correlations/state lists it.
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
	Window               any                 `json:"window,omitempty"`
}

// Filter chooses what is listed. The zero value lists everything.
type Filter struct {
	ID       string // equal to id, name or title
	Group    string // part of the displayed key
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
// together: with many groups and long windows they are large.
func (v *View) Each(filter Filter) (groups iter.Seq[GroupEntry], count int) {
	var hits []hit
	for i := range v.states {
		if st := &v.states[i]; filter.accepts(st.c) {
			hits = st.hits(hits, i, filter.Group)
		}
	}
	count = len(hits)
	hits = hits[min(filter.Offset, count):]
	if filter.Limit > 0 {
		hits = hits[:min(filter.Limit, len(hits))]
	}
	return func(yield func(GroupEntry) bool) {
		for _, h := range hits {
			if !yield(v.states[h.state].entry(h.state, h.group, h.display, !filter.NoWindow)) {
				return
			}
		}
	}, count
}

// hit is a group that passes a filter.
type hit struct {
	state   int
	group   *group
	display string
}

// hits appends the groups whose displayed key has the given part, in its order.
func (st *stateView) hits(dst []hit, state int, part string) []hit {
	from := len(dst)
	for _, g := range st.groups {
		if g == nil || g.tombstone {
			continue
		}
		if display := st.c.Display(g.key); strings.Contains(display, part) {
			dst = append(dst, hit{state, g, display})
		}
	}
	slices.SortFunc(dst[from:], func(a, b hit) int {
		if d := strings.Compare(a.display, b.display); d != 0 {
			return d
		}
		return strings.Compare(a.group.key, b.group.key)
	})
	return dst
}

func (st *stateView) entry(index int, g *group, display string, withWindow bool) GroupEntry {
	c, entries := st.c, st.entries(g)
	e := GroupEntry{
		CorrelationIndex: index, CorrelationID: c.Source.ID, CorrelationName: c.Source.Name,
		CorrelationTitle: c.Source.Title, Type: c.Source.Type, GroupKey: []KeyPart{}, GroupKeyDisplay: display,
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
		e.Window = show(c, entries)
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

// The shapes of a window by type of correlation.
type (
	shownCounts struct {
		EventCount struct {
			Timestamps []int64 `json:"timestamps"`
		}
	}
	shownTexts struct {
		ValueCount struct {
			Entries [][2]any `json:"entries"`
		}
	}
	shownNumbers struct {
		NumericAgg struct {
			Entries [][2]any `json:"entries"`
		}
	}
	shownHits struct {
		Temporal struct {
			RuleHits map[string][]int64 `json:"rule_hits"`
		}
	}
)

func show(c *program.Correlation, w window.Window) any {
	switch w := w.(type) {
	case *window.Counts:
		var s shownCounts
		s.EventCount.Timestamps = timestamps(w)
		return s
	case *window.Distinct:
		var s shownTexts
		s.ValueCount.Entries = [][2]any{}
		for ts, text := range w.All() {
			s.ValueCount.Entries = append(s.ValueCount.Entries, [2]any{ts, showText(c, text)})
		}
		return s
	case *window.Numbers:
		var s shownNumbers
		s.NumericAgg.Entries = [][2]any{}
		for ts, v := range w.All() {
			s.NumericAgg.Entries = append(s.NumericAgg.Entries, [2]any{ts, v})
		}
		return s
	case *window.Hits:
		var s shownHits
		s.Temporal.RuleHits = make(map[string][]int64)
		for i, m := range c.Source.Members {
			if w.Hit(i) {
				s.Temporal.RuleHits[m.Name] = timestamps(w.Member(i))
			}
		}
		return s
	}
	return nil
}

func timestamps(w *window.Counts) []int64 {
	list := make([]int64, 0, w.Len())
	for ts, n := range w.All() {
		for range n {
			list = append(list, ts)
		}
	}
	return list
}

// showText spells a tuple with U+001F between its parts.
func showText(c *program.Correlation, text string) string {
	if len(c.Source.Condition.Fields) < 2 {
		return match.Counted(text)
	}
	var parts []string
	for part := range match.Parts(text) {
		parts = append(parts, part)
	}
	return strings.Join(parts, "\x1f")
}
