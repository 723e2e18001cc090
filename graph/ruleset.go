package graph

import (
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
)

// RuleSet is one generation of rules as everything behind parse sees it. It is
// built aside and never changed after it was published.
type RuleSet struct {
	Generation  uint64 // grows with every set that is built
	Engine      *engine.Set
	Correlation *correlation.Program // of correlations over the engine's rules; nil is none
	Rejected    int                  // documents left out
}

// Correlates reports whether the set has correlations.
func (s *RuleSet) Correlates() bool { return s.Correlation != nil && s.Correlation.Len() > 0 }

// Again returns the same rules as another set, for a reload that found them unchanged.
func (s *RuleSet) Again() *RuleSet {
	again := *s
	return &again
}

// Same reports whether both sets evaluate the same compiled rules.
func (s *RuleSet) Same(other *RuleSet) bool {
	return s.Engine == other.Engine && s.Correlation == other.Correlation
}
