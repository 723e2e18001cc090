package match

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Kind is what a match contributes to a correlation besides its time.
type Kind uint8

// The kinds of contributions.
const (
	Nothing Kind = iota // the match itself
	Text                // one text
	Tuple               // several texts, as one
	Number
)

// Feed says what one correlation needs of a match of one rule. Fields
// are numbers in Spec.Fields.
type Feed struct {
	Correlation int
	Key         int // of the group, in Spec.Keys
	Kind        Kind
	Values      []int    // what is contributed; without all of it the match does not count
	Members     []uint16 // of a temporal correlation, that the rule is
}

// Rule says what all correlations need of a match of one rule.
type Rule struct {
	From   int   // its feeds, ascending by correlation, in Spec.Feeds
	To     int   // behind them
	Chain  []int // fields that dependent correlations may need
	WantID bool  // a correlation stores references to events
	Copy   bool  // a correlation stores copies of events
}

// Spec says what to extract from an event. It never changes once it is sealed.
type Spec struct {
	Mark   uint32   // a hash, by which records for other specs are recognised
	Fields []string // every field that is looked up, by number
	Keys   [][]int  // every group key: a field for each of its parts
	Feeds  []Feed   // of all rules, in their order
	Rules  []Rule   // by load index of the detection rule
	IDs    []int    // fields of which the first present one is the event's reference
	// Paths, when not nil, holds the path patterns of every field that has some: the
	// value is then that of the first pattern that the event has.
	Paths [][]string
}

// Seal sets the mark, which is the same for equal specs in every process of the
// same version of records.
func (s *Spec) Seal() {
	h := sha256.New()
	fmt.Fprintf(h, "match record 2 %q %v %v %v %v %q", s.Fields, s.Keys, s.Feeds, s.Rules, s.IDs, s.Paths)
	s.Mark = binary.LittleEndian.Uint32(h.Sum(nil))
}

// Wants reports whether a correlation refers to the rule with this load index.
func (s *Spec) Wants(rule int) bool {
	return rule < len(s.Rules) && s.Rules[rule].From < s.Rules[rule].To
}
