package graph

import (
	"sync/atomic"

	"github.com/sluicehq/sluice/graph/catalog"
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
	Catalog     *catalog.Catalog     // lists the rules and counts their hits; nil counts nothing
}

// Publication carries a rule set through an idle graph, in a batch without lines.
// While the batch waits, a newer set takes the place of the one it carries, so that
// sets do not pile up in front of a stage that is held.
type Publication struct{ set atomic.Pointer[RuleSet] }

// NewPublication returns a publication of a set.
func NewPublication(s *RuleSet) *Publication {
	p := new(Publication)
	p.set.Store(s)
	return p
}

// Renew makes it a publication of a newer set. It reports false when it has arrived.
// The caller is parse, and has made no batch since.
func (p *Publication) Renew(s *RuleSet) bool {
	old := p.set.Load()
	return old != nil && p.set.CompareAndSwap(old, s)
}

// Set is the set that it carries at the moment, nil when it has arrived.
func (p *Publication) Set() *RuleSet { return p.set.Load() }

// Arrive returns the set and ends the publication. The caller is correlate.
func (p *Publication) Arrive() *RuleSet { return p.set.Swap(nil) }

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
