package scope

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/ast"
)

// Config is a section named scope. Its zero value admits every result.
type Config struct {
	Rules  []string `yaml:"rules" json:"rules,omitempty"`
	Tags   []string `yaml:"tags" json:"tags,omitempty"`
	Levels []string `yaml:"levels" json:"levels,omitempty"`
}

// Validate reports every fault at once. Each message begins with the key and names the
// entry: "scope.levels: unknown level 'High' ...".
func (c Config) Validate() error {
	_, err := Compile(c)
	return err
}

// Scope is a scope that was read. It never changes, and any goroutine may ask it. The
// nil Scope admits every result.
type Scope struct {
	ids      []string
	titles   []*Glob
	tags     []string
	prefixes []string
	levels   [len(levelBits)]bool
	byRule   bool
	byTag    bool
	byLevel  bool
}

// levelBits has one place for each level, and for none.
var levelBits [ast.LevelCritical + 1]struct{}

// Compile reads a scope. Its errors are those of Validate; without entries it returns
// nil.
func Compile(c Config) (*Scope, error) {
	s := &Scope{byRule: len(c.Rules) > 0, byTag: len(c.Tags) > 0, byLevel: len(c.Levels) > 0}
	if !s.byRule && !s.byTag && !s.byLevel {
		return nil, nil
	}
	var faults []error
	for _, entry := range c.Rules {
		if !strings.ContainsAny(entry, "*?[") {
			s.ids = append(s.ids, entry)
			continue
		}
		glob, err := CompileGlob(entry)
		if err != nil {
			faults = append(faults, fmt.Errorf("scope.rules: %w", err))
			continue
		}
		s.titles = append(s.titles, glob)
	}
	for _, entry := range c.Tags {
		if prefix, ok := strings.CutSuffix(entry, "*"); ok {
			s.prefixes = append(s.prefixes, prefix)
		} else {
			s.tags = append(s.tags, entry)
		}
	}
	for _, entry := range c.Levels {
		level, err := ast.ParseLevel(entry)
		if err != nil {
			names := ast.LevelNames()
			faults = append(faults, fmt.Errorf("scope.levels: unknown level '%s' (valid levels: %s)%s", entry, strings.Join(names, ", "), suggest.Behind(entry, names)))
			continue
		}
		s.levels[level] = true
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return s, nil
}

// Admits reports whether r is in the scope.
func (s *Scope) Admits(r *graph.Result) bool {
	return s == nil || s.AdmitsRule(r.RuleID(), r.Title(), r.Level(), r.Tags())
}

// AdmitsRule reports whether the results of a rule with these properties are in the
// scope: nothing else of a result matters. An id is empty if the rule has none.
func (s *Scope) AdmitsRule(id, title string, level ast.Level, tags []string) bool {
	switch {
	case s == nil:
		return true
	case s.byLevel && (level == ast.LevelNone || int(level) >= len(s.levels) || !s.levels[level]):
		return false
	case s.byTag && !slices.ContainsFunc(tags, s.admitsTag):
		return false
	}
	return !s.byRule || s.admitsRule(id, title)
}

func (s *Scope) admitsRule(id, title string) bool {
	return id != "" && slices.Contains(s.ids, id) ||
		slices.ContainsFunc(s.titles, func(g *Glob) bool { return g.Match(title) })
}

func (s *Scope) admitsTag(tag string) bool {
	return slices.Contains(s.tags, tag) ||
		slices.ContainsFunc(s.prefixes, func(prefix string) bool { return strings.HasPrefix(tag, prefix) })
}
