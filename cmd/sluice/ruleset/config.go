package ruleset

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/sigma/load"
)

// Config says which rules are loaded, and what rewrites them.
type Config struct {
	Rules        []string `yaml:"rules" flag:"rules,r" mode:"one" help:"Rule file or directory; repeatable"`
	MinLevel     string   `yaml:"min_level" flag:"min-level" oneof:"informational low medium high critical" help:"Leave out rules of a lower level, or without one"`
	ExcludeRules []string `yaml:"exclude_rules" flag:"exclude-rule" help:"Leave out rules: ID, tag:TAG or status:STATUS; repeatable"`
	Pipelines    []string `yaml:"pipelines" flag:"pipeline,p" help:"Processing pipeline, built in or a file; repeatable"`
}

// Validate reports paths without a name and exclusions that nothing can read.
func (c Config) Validate(fault func(key string, err error)) {
	if slices.Contains(c.Rules, "") {
		fault("rules", errors.New("a path is empty"))
	}
	for i, text := range c.ExcludeRules {
		if _, err := load.ParseExclusion(text); err != nil {
			fault(fmt.Sprintf("exclude_rules[%d]", i), err)
		}
	}
}

// Options are the options of a load with these settings.
func (c Config) Options() Options {
	return Options{Roots: c.Rules, Pipelines: c.Pipelines, MinLevel: c.MinLevel, ExcludeRules: c.ExcludeRules}
}
