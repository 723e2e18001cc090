package ruleset

import (
	"fmt"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// Sources are what rules need to know of dynamic sources. The zero value declares none.
type Sources struct {
	Declared    []string // ids
	AllowRemote bool     // items may be included that were fetched over the network
}

// Check returns an error when pipelines refer to sources that nobody declares.
func (s *Sources) Check(set *pipeline.Set) error {
	declared := make(map[string]bool, len(s.Declared))
	for _, id := range s.Declared {
		declared[id] = true
	}
	return set.Undeclared(func(id string) bool { return declared[id] })
}

// Expand returns the pipelines with values in the place of references, and what was left
// out. Before, which may be nil, is what they were expanded to last. The error wraps
// ErrPipeline.
func (s *Sources) Expand(set *pipeline.Set, values map[string]pipeline.Value, before *pipeline.Set) (*pipeline.Set, []string, error) {
	out, warnings, err := set.Expand(values, pipeline.ExpandOptions{AllowRemote: s.AllowRemote, Before: before})
	if err != nil {
		return nil, nil, fmt.Errorf("%w %w", ErrPipeline, err)
	}
	return out, warnings, nil
}

// Renew returns what becomes of a rule set, and of the collection it was compiled from,
// when the pipelines have other values: now, in which the values of the names in changed
// are others. Both may be those given. The set has no generation number of its own yet.
// Ok is false when the documents have to go through all phases behind Read again.
func Renew(set *graph.RuleSet, c *load.Collection, now *pipeline.Set, changed []string, o Options) (next *graph.RuleSet, _ *load.Collection, ok bool) {
	again, err := o.reading()
	if err != nil || o.Observe != nil {
		return nil, nil, false
	}
	now.Rewrite(&again)
	renewed, changes, ok := c.Renew(again, changed)
	if !ok {
		return nil, nil, false
	}
	out := *set
	if len(changes) > 0 {
		list := make([]engine.Change, len(changes))
		for i, x := range changes {
			list[i] = engine.Change(x)
		}
		if out.Engine, ok = set.Engine.Renew(list); !ok {
			return nil, nil, false
		}
	}
	return &out, renewed, true
}
