package dynamic

import (
	"context"
	"errors"
	"sync"

	"github.com/sluicehq/sluice/sigma/pipeline"
	"github.com/sluicehq/sluice/sources/fetch"
)

// Fetcher gets values. *fetch.Client is one.
type Fetcher interface {
	Fetch(ctx context.Context, d *fetch.Declaration, known *fetch.Validators) (fetch.Value, error)
}

// Outcome is what came of a source.
type Outcome struct {
	*fetch.Declaration
	JSON []byte // compact; nil is null
	// Err says why the fetch failed; nil after a success. The default may count all the same.
	Err error
	// Resolved says that JSON is a value: what was fetched, or the default.
	Resolved bool
}

// Resolve fetches every source and returns what came of each, in order. It returns when all
// have ended, of which ctx is told.
func Resolve(ctx context.Context, from Fetcher, all []*fetch.Declaration) []Outcome {
	list := make([]Outcome, len(all))
	slots := make(chan struct{}, fetch.AtOnce)
	var work sync.WaitGroup
	for i, d := range all {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			list[i] = resolve(ctx, from, d)
		})
	}
	work.Wait()
	return list
}

func resolve(ctx context.Context, from Fetcher, d *fetch.Declaration) Outcome {
	v, err := from.Fetch(ctx, d, nil)
	o := Outcome{Declaration: d, JSON: v.JSON, Err: err, Resolved: err == nil}
	if err != nil && d.OnError == fetch.UseDefault && ctx.Err() == nil {
		o.JSON, o.Resolved = d.Default, true
	}
	return o
}

// Values are the values by source, as pipelines take them. The error joins those of required
// sources without a value. Warnings tell what counts in the place of a value.
func Values(list []Outcome) (values map[string]pipeline.Value, warnings []string, err error) {
	values = make(map[string]pipeline.Value, len(list))
	var faults []error
	for _, o := range list {
		switch {
		case o.Err == nil:
		case o.Resolved:
			warnings = append(warnings, o.Err.Error()+" (its default counts)")
		case o.Required:
			faults = append(faults, o.Err)
		default:
			warnings = append(warnings, o.Err.Error()+" (it counts as null)")
		}
		values[o.ID] = pipeline.Value{JSON: o.JSON, Remote: o.Type.Remote()}
	}
	return values, warnings, errors.Join(faults...)
}
