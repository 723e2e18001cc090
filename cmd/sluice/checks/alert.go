package checks

import (
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/internal/strict"
)

// alertPipeline reads the file of the alert pipeline, and blames it for what is wrong in it.
func (c *checking) alertPipeline() {
	file := c.d.AlertPipeline
	if file == "" {
		return
	}
	warnings, faults := alert.Check(file)
	for _, f := range faults {
		c.problems = append(c.problems, c.within(file, f))
	}
	for _, f := range warnings {
		c.warnings = append(c.warnings, c.within(file, f))
	}
}

// within is a problem of the alert pipeline, of which the line is known unless the setting
// is to blame.
func (c *checking) within(file string, f strict.Fault) config.Problem {
	p := c.l.Problem("daemon.alert_pipeline", f)
	if f.Line > 0 {
		p.File, p.Line = file, f.Line
	}
	return p
}
