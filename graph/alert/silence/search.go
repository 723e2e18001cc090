package silence

import "github.com/sluicehq/sluice/graph"

// search looks for a silence that mutes a result.
type search struct {
	r          *graph.Result
	now        int64
	turn       uint64
	withEvents bool
	found      *item
}

// matches returns a silence that mutes r at now, nil if there is none. Without withEvents
// those that read the event do not.
func (x *index) matches(r *graph.Result, now int64, withEvents bool) *item {
	x.turn++
	s := search{r: r, now: now, turn: x.turn, withEvents: withEvents}
	if s.list(x.plain) || s.fields(x.fields) || s.groups(x.groups) || x.enrichments.search(&s) || withEvents && s.list(x.events) {
		return s.found
	}
	for _, p := range x.scanned {
		if p.matches(r, s.turn) && s.any(p.filed) {
			return s.found
		}
	}
	return nil
}

// fields looks at the columns of matched fields: at those that the result has, or at all if
// they are fewer.
func (s *search) fields(columns byName) bool {
	if s.r.Detection == nil || len(columns) == 0 {
		return false
	}
	fields := s.r.Detection.Fields
	if len(columns) <= len(fields) {
		return s.columns(columns)
	}
	for i := range fields {
		if c := columns[fields[i].Name]; c != nil && s.column(c) {
			return true
		}
	}
	return false
}

// groups is like fields for the group keys of correlations.
func (s *search) groups(columns byName) bool {
	if s.r.Correlation == nil || len(columns) == 0 {
		return false
	}
	key := s.r.Correlation.Key
	if len(columns) <= len(key) {
		return s.columns(columns)
	}
	for i := range key {
		if c := columns[key[i].Field]; c != nil && s.column(c) {
			return true
		}
	}
	return false
}

func (s *search) columns(columns byName) bool {
	for _, c := range columns {
		if s.column(c) {
			return true
		}
	}
	return false
}

func (s *search) list(columns list) bool {
	for _, c := range columns {
		if s.column(c) {
			return true
		}
	}
	return false
}

// column looks at the silences that are filed under the value that the result has.
func (s *search) column(c *column) bool {
	p := c.values[string(c.read(s.r, s.turn))]
	return p != nil && s.any(p.filed)
}

// any reports whether one of the silences mutes the result.
func (s *search) any(filed []*item) bool {
	for _, it := range filed {
		if it.active(s.now) && (s.withEvents || !it.events) && s.all(it.probes) {
			s.found = it
			return true
		}
	}
	return false
}

func (s *search) all(probes []*probe) bool {
	for _, p := range probes {
		if !p.matches(s.r, s.turn) {
			return false
		}
	}
	return true
}
