package ast

import "fmt"

// Fault is a rule, or a filter merged into it, that no evaluator can be made of
// although every check let it pass.
type Fault struct {
	Rule   int // load index
	Filter int // position among the rule's filters, -1 for the rule itself
	Reason string
}

// Faults is the error of compiling a set of rules of which some have faults. The
// others are sound.
type Faults []Fault

// Error tells of the first fault.
func (f Faults) Error() string {
	return fmt.Sprintf("compile rules: %d unsound, the first is rule %d: %s", len(f), f[0].Rule, f[0].Reason)
}
