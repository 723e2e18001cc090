package checks

import (
	"fmt"

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

// within is a problem of the alert pipeline. It stands where the fault does, or, when the file
// as a whole is to blame, where the setting is made; either way it names the file.
func (c *checking) within(setting, file string, f strict.Fault) config.Problem {
	if f.Line == 0 {
		return c.l.Problem(setting, fmt.Errorf("%s: %w", file, f))
	}
	p := c.l.Problem(setting, f)
	p.File, p.Line = file, f.Line
	return p
}
