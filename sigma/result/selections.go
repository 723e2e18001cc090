package result

import (
	"slices"

	"github.com/sluicehq/sluice/sigma/event"
)

// Selections are the names of the selections that matched, with the detection that
// has no more than these names. Detections share them, so they never change.
type Selections struct {
	names     []string
	detection Detection

	// What a native line begins with, up to the entries of matched_fields, when
	// it tells neither a time nor enrichments; and the part of it from
	// matched_selections on.
	opening []byte
	member  []byte

	encodings encodings
}

// noSelections is the member of results that have none.
const noSelections = `,"matched_selections":[],"matched_fields":[`

// NewSelections returns the selections of a rule that have these names, which it
// copies.
func NewSelections(r *Rule, names []string) *Selections {
	s := &Selections{names: slices.Clone(names)}
	s.detection = Detection{Rule: r, Selections: s}
	s.opening = slices.Concat(r.head, r.attributes)
	at := len(s.opening)
	s.opening = append(s.opening, `,"matched_selections":[`...)
	for i, name := range names {
		if i > 0 {
			s.opening = append(s.opening, ',')
		}
		s.opening = event.AppendQuoted(s.opening, name)
	}
	s.opening = slices.Clip(append(s.opening, `],"matched_fields":[`...))
	s.member = s.opening[at:]
	return s
}

// Are reports whether the selections have these names, in this order.
func (s *Selections) Are(names []string) bool { return slices.Equal(s.names, names) }

// Detection returns the detection without fields. All events that meet the rule by
// these selections share it.
func (s *Selections) Detection() *Detection { return &s.detection }
