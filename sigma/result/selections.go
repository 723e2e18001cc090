package result

import (
	"slices"

	"github.com/sluicehq/sluice/sigma/event"
)

// Selections are the names of the selections that a rule was met by. Results
// share them, so they never change.
type Selections struct {
	names  []string
	member []byte // `,"matched_selections":[...]`
}

// NewSelections returns the selections of these names, which it copies.
func NewSelections(names []string) *Selections {
	s := &Selections{names: slices.Clone(names)}
	s.member = append(s.member, `,"matched_selections":[`...)
	for i, name := range names {
		if i > 0 {
			s.member = append(s.member, ',')
		}
		s.member = event.AppendQuoted(s.member, name)
	}
	s.member = append(s.member, ']')
	return s
}

// Are reports whether the selections have these names, in this order.
func (s *Selections) Are(names []string) bool { return slices.Equal(s.names, names) }

// append appends the member matched_selections with a comma in front.
func (s *Selections) append(dst []byte) []byte {
	if s == nil {
		return append(dst, `,"matched_selections":[]`...)
	}
	return append(dst, s.member...)
}
