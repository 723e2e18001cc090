package result

import (
	"fmt"
	"strings"
)

// Detail says how much an entry of matched_fields tells.
type Detail uint8

// The levels of --match-detail.
const (
	Off     Detail = iota // field and value
	Summary               // also how it matched
	Full                  // also the pattern
)

// ParseDetail reads a level; blanks around it and case do not matter.
func ParseDetail(s string) (Detail, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "off":
		return Off, nil
	case "summary":
		return Summary, nil
	case "full":
		return Full, nil
	}
	return Off, fmt.Errorf("unknown match detail %q (off, summary, full)", s)
}

// String returns the name of the level.
func (d Detail) String() string {
	switch d {
	case Summary:
		return "summary"
	case Full:
		return "full"
	}
	return "off"
}
