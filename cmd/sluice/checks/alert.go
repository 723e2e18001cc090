package checks

import (
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/internal/strict"
)

// alertPipeline reads the file of the alert pipeline that a setting names, and blames it for
// what is wrong in it.
func (c *checking) alertPipeline(setting, file string) {
	if file == "" {
		return
	}
	warnings, faults := alert.Check(file)
	for _, f := range faults {
		c.problems = append(c.problems, c.within(setting, file, f))
	}
	for _, f := range warnings {
		c.warnings = append(c.warnings, c.within(setting, file, f))
	}
}

// within is a problem of the alert pipeline, of which the line is known unless the setting
// is to blame.
func (c *checking) within(setting, file string, f strict.Fault) config.Problem {
	p := c.l.Problem(setting, f)
	if f.Line > 0 {
		p.File, p.Line = file, f.Line
	}
	return p
}
