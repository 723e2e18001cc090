package graph

import (
	"github.com/sluicehq/sluice/sigma/correlation/plan"
	"github.com/sluicehq/sluice/sigma/engine"
)

// RuleSet is one generation of rules as everything behind parse sees it. It is
// built aside and never changed after it was published.
type RuleSet struct {
	Generation  uint64 // grows with every publish
	Engine      *engine.Set
	Correlation *plan.Plan // of correlations over the engine's rules; nil is none
	Rejected    int        // documents left out
}

// Correlates reports whether the set has correlations.
func (s *RuleSet) Correlates() bool { return s.Correlation != nil && s.Correlation.Len() > 0 }
