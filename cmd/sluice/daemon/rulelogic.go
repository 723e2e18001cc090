package daemon

import (
	"fmt"

	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/packed"
)

// logic is what of a rule only compiling looks at: most of its bytes.
type logic struct {
	Detections []sigma.Detection
	Conditions []sigma.Condition
	Filters    []sigma.FilterScope
}

// split parts the rules of a load, which stays as it is, from their logic.
func split(c *load.Collection) (rest *load.Collection, logics []logic) {
	without := *c
	without.Rules = make([]*sigma.Rule, len(c.Rules))
	logics = make([]logic, len(c.Rules))
	for i, r := range c.Rules {
		x := *r
		logics[i] = logic{x.Detections, x.Conditions, x.Filters}
		x.Detections, x.Conditions, x.Filters = nil, nil, nil
		without.Rules[i] = &x
	}
	return &without, logics
}

// complete gives rules that came from the cache their logic back.
func (c *ruleCache) complete(rules []*sigma.Rule) error {
	var logics []logic
	if err := c.part(partLogic, &logics); err != nil {
		return err
	}
	if len(logics) != len(rules) {
		return fmt.Errorf("%w: the logic of %d rules for %d", packed.ErrDamaged, len(logics), len(rules))
	}
	for i, r := range rules {
		r.Detections, r.Conditions, r.Filters = logics[i].Detections, logics[i].Conditions, logics[i].Filters
	}
	return nil
}
