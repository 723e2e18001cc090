package command

import (
	"context"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/dynamic"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/sigma/pipeline"
	"github.com/sluicehq/sluice/sources/fetch"
)

// sourceFaults is the error of dynamic sources that cannot be used: a line of each.
type sourceFaults struct{ err error }

func (s *sourceFaults) Error() string { return "Source resolution errors:\n" + s.err.Error() }
func (s *sourceFaults) Unwrap() error { return s.err }

// loadSources reads the files that declare sources.
func (e *env) loadSources(paths []string) ([]*fetch.Declaration, error) {
	all, warnings, err := fetch.Load(paths)
	e.warn(warnings...)
	if err != nil {
		return nil, configFault(&sourceFaults{err})
	}
	return all, nil
}

// expansion returns a function that puts the values of sources into pipelines, each fetched
// once. Its error is a *sourceFaults.
func (e *env) expansion(ctx context.Context, l *config.Loaded, all []*fetch.Declaration) (func(*pipeline.Set) (*pipeline.Set, []string, error), error) {
	client, err := e.fetcher(l)
	if err != nil {
		return nil, err
	}
	sources := ruleset.Sources{Declared: idsOf(all), AllowRemote: l.Config.Daemon.Engine.AllowRemoteInclude}
	return func(set *pipeline.Set) (*pipeline.Set, []string, error) {
		defer client.Close()
		if err := sources.Check(set); err != nil {
			return nil, nil, &sourceFaults{err}
		}
		values, warnings, err := dynamic.Values(dynamic.Resolve(ctx, client, all))
		if err != nil {
			return nil, nil, &sourceFaults{err}
		}
		expanded, notes, err := sources.Expand(set, values, nil)
		if err != nil {
			return nil, nil, &sourceFaults{err}
		}
		return expanded, append(warnings, notes...), nil
	}, nil
}
