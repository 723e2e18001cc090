package daemon

import (
	"context"
	"iter"
	"slices"

	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/sigma/correlation"
)

// fallbackSkip keeps events without a time of their own from correlations.
const fallbackSkip = "skip"

// parts are the stages with state.
func (d *Daemon) parts() []part { return []part{correlationPart()} }

// correlationPart is the windows. A rule set without correlations leaves what is
// stored of them as it is.
func correlationPart() part {
	return part{
		stage: graph.StageCorrelate, name: "correlation", version: correlation.SnapshotVersion,
		view: func(export any) view {
			if v, ok := export.(*correlation.View); ok && v.Correlations() > 0 {
				return v
			}
			return nil
		},
	}
}

// correlations answers questions about the state from a view of it, so that the
// stage is not held up by the size of an answer.
type correlations struct{ stage *correlate.Client }

// List describes the rules in load order.
func (c correlations) List(ctx context.Context) ([]correlation.Entry, error) {
	v, err := c.stage.Export(ctx)
	if err != nil {
		return nil, err
	}
	return v.Entries(correlation.Filter{}), nil
}

// State describes the rules and the groups that f lets through.
func (c correlations) State(ctx context.Context, f api.CorrelationFilter) (rules []correlation.Entry, groups iter.Seq[correlation.GroupEntry], count int, err error) {
	v, err := c.stage.Export(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	filter := correlation.Filter{Offset: f.Offset, Limit: f.Limit, NoWindow: f.NoWindow}
	if f.ID != nil {
		if *f.ID == "" {
			return nil, slices.Values[[]correlation.GroupEntry](nil), 0, nil // nothing is named so
		}
		filter.ID = *f.ID
	}
	if f.Group != nil {
		filter.Group = *f.Group
	}
	groups, count = v.Each(filter)
	return v.Entries(filter), groups, count, nil
}
