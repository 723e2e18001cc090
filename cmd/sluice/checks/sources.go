package checks

import (
	"errors"
	"fmt"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/sources/fetch"
)

// sources reads the declarations of sources and blames their files for what is wrong in
// them. Pipelines may refer to what is declared.
func (c *checking) sources() {
	declared, warnings, err := fetch.Load(c.d.Sources)
	if c.validating { // loading them for the start tells
		for _, text := range warnings {
			c.warnings = append(c.warnings, config.Problem{Key: c.l.Name("daemon.sources"), Message: text})
		}
	}
	var load *fetch.LoadError
	if errors.As(err, &load) {
		for _, f := range load.Faults {
			c.problems = append(c.problems, c.ofSource(f))
		}
		return
	}
	set, err := ruleset.Pipelines(c.d.Pipelines)
	if err != nil {
		return // is reported already
	}
	known := ruleset.Sources{}
	for _, d := range declared {
		known.Declared = append(known.Declared, d.ID)
	}
	if err := known.Check(set); err != nil {
		c.fault("daemon.pipelines", fmt.Errorf("%w (--source names files that declare sources)", err))
		return
	}
	c.dynamic = len(set.Sources()) > 0
	if c.dynamic && c.validating {
		c.warn("daemon.pipelines", errors.New("pipelines refer to sources, which validation does not fetch: the rules are parsed only"))
	}
}

// ofSource is a fault of a file of declarations.
func (c *checking) ofSource(f fetch.Fault) config.Problem {
	p := c.l.Problem("daemon.sources", errors.New((&fetch.LoadError{Faults: []fetch.Fault{{Text: f.Text, Collision: f.Collision}}}).Error()))
	if f.File != "" {
		p.File, p.Line = f.File, f.Line
	}
	return p
}
