// Package ruleset turns settings into rules, in phases:
//
//	files -> documents -> rules -> rule set
//	     Read      Transform   Compile
//
// Each phase is a function of its input, which may be kept to repeat what stands
// behind it: a pipeline that changes needs no file read again. Transform takes the
// pipelines with every value in them resolved. Every command and the daemon load
// rules this way, so that they cannot disagree about what a setting means.
package ruleset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// Options say which rules, and how they are rewritten.
type Options struct {
	Roots        []string
	Pipelines    []string // names of built-in ones, and files
	MinLevel     string   // empty excludes nothing
	ExcludeRules []string
	NoFilters    bool

	// Observe, when not nil, is told what the pipelines make of each detection
	// rule, in load order. There is nothing to tell without pipelines.
	Observe func(before, after *ast.Rule, o load.Outcome, err error)

	// Expand, when not nil, puts values into the pipelines that Load has read, and returns
	// what there is to tell of that. Its error ends the load.
	Expand func(*pipeline.Set) (*pipeline.Set, []string, error)
}

// ErrPipeline is wrapped by errors of pipelines, which are faults of the
// configuration and not of rules.
var ErrPipeline = errors.New("Error loading pipeline") //nolint:staticcheck // users find the text in scripts

// Rules is what was loaded.
type Rules struct {
	*load.Collection
	Roots []string // as Options.Roots
	Files int      // that were found below them
	// Notes say what is amiss with pipelines without making them unusable.
	Notes []string
	// Details are worth a line of debugging each.
	Details []string
}

// Pipelines reads the pipelines with these names. The error wraps ErrPipeline.
func Pipelines(names []string) (*pipeline.Set, error) {
	set, err := pipeline.Load(names)
	if err != nil {
		var which *pipeline.LoadError
		if errors.As(err, &which) && errors.Is(err, fs.ErrNotExist) {
			return nil, suggest.Wrap(fmt.Errorf("%w %w", ErrPipeline, err), which.Path, pipeline.Builtins[:])
		}
		return nil, fmt.Errorf("%w %w", ErrPipeline, err)
	}
	return set, nil
}

// reading gives the loader's form of the options, without pipelines.
func (o *Options) reading() (load.Options, error) {
	out := load.Options{ExcludeRules: o.ExcludeRules, NoFilters: o.NoFilters}
	var err error
	if o.MinLevel != "" {
		out.MinLevel, err = ast.ParseLevel(o.MinLevel)
	}
	return out, err
}

// Load reads the rules. The error is fatal: a root that cannot be read, one that
// wraps ErrPipeline, or that of ctx, which ends the reading between two files.
func Load(ctx context.Context, o Options) (*Rules, error) {
	set, err := Pipelines(o.Pipelines)
	if err != nil {
		return nil, err
	}
	var notes []string
	if o.Expand != nil {
		if set, notes, err = o.Expand(set); err != nil {
			return nil, err
		}
	}
	found, err := load.Find(ctx, o.Roots)
	if err != nil {
		return nil, err
	}
	docs, err := Read(ctx, found, o, nil)
	if err != nil {
		return nil, err
	}
	rules, err := Transform(docs, set, o)
	if err != nil {
		return nil, err
	}
	rules.Notes = append(notes, rules.Notes...)
	return rules, nil
}

// Read parses the files found. Those are not parsed again that have not changed
// since known was read, which may be nil.
func Read(ctx context.Context, found []load.Source, o Options, known *load.Documents) (*load.Documents, error) {
	reading, err := o.reading()
	if err != nil {
		return nil, err
	}
	reading.Now = time.Now()
	return load.Read(ctx, found, reading, known)
}

// Transform makes rules of documents: it merges filters and runs the pipelines.
// The documents stay as they are.
func Transform(docs *load.Documents, set *pipeline.Set, o Options) (*Rules, error) {
	out, err := o.reading()
	if err != nil {
		return nil, err
	}
	if len(set.Pipelines) > 0 {
		set.Rewrite(&out)
		if o.Observe != nil {
			out.Transform = func(before *ast.Rule) (*ast.Rule, load.Outcome, error) {
				after, outcome, err := set.Apply(before)
				o.Observe(before, after, outcome, err)
				return after, outcome, err
			}
		}
	}
	rules := &Rules{Collection: docs.Collect(out), Roots: o.Roots, Files: len(docs.Files()), Notes: notes(set)}
	for _, p := range set.Pipelines {
		if len(p.Ignored) > 0 {
			rules.Details = append(rules.Details, fmt.Sprintf("pipeline %s: %s have no effect here", p.Path, strings.Join(p.Ignored, ", ")))
		}
	}
	return rules, nil
}

func notes(set *pipeline.Set) []string {
	var out []string
	for _, p := range set.Pipelines {
		for _, w := range p.Warnings {
			out = append(out, fmt.Sprintf("pipeline %s: %s", p.Path, w))
		}
		if p.Dynamic {
			out = append(out, fmt.Sprintf("pipeline %s: its dynamic sources are not resolved here", p.Path))
		}
	}
	return out
}
