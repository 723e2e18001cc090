package alert

import "time"

// jump is how far the clock of the machine may be off before it counts as set.
const jump = time.Minute

// clock notices when the clock of the machine is set: timers of alerts and incidents, and
// silences, go by it.
type clock struct {
	wall    time.Time
	elapsed time.Duration // since some moment, which no setting of the clock changes
}

// at takes a reading, and reports whether the clock was set since the one before. from is
// what it would show otherwise.
func (c *clock) at(wall time.Time, elapsed time.Duration) (from time.Time, set bool) {
	from = c.wall.Add(elapsed - c.elapsed)
	set = !c.wall.IsZero() && wall.Sub(from).Abs() > jump
	c.wall, c.elapsed = wall, elapsed
	return from, set
}
