package correlation

// streamClock is the time of the stream of events, for expiry and eviction
// only. Between events it advances with the wall time; it never moves back, a
// single event that is far ahead does not move it, and none moves it beyond its
// own arrival and a day.
type streamClock struct {
	started bool
	value   int64 // the clock at wall time at
	at      int64
	ahead   int // consecutive events too far ahead
}

const (
	// maxLead is how far one event may move the clock, and how far past its arrival
	// the time of an event may be: beyond that it is far-future.
	maxLead  = 24 * 60 * 60
	believed = 3 // so many events further ahead are believed
)

// StreamClock returns the time of the stream of events at wall time now, both in
// Unix seconds; 0 before the first event.
func (e *Engine) StreamClock(now int64) int64 {
	if !e.clock.started {
		return 0
	}
	return e.clock.now(now)
}

// now returns the clock at the given wall time.
func (c *streamClock) now(wall int64) int64 { return c.value + max(0, wall-c.at) }

// observe takes the time of an event with a match record; of a far-future one the
// latest time that is not.
func (c *streamClock) observe(ts, wall int64) {
	if !c.started {
		*c = streamClock{started: true, value: ts, at: wall}
		return
	}
	c.value, c.at = c.now(wall), max(c.at, wall)
	switch {
	case ts <= c.value:
		c.ahead = 0
	case ts-c.value <= maxLead:
		c.value, c.ahead = ts, 0
	default:
		if c.ahead++; c.ahead == believed {
			c.value, c.ahead = ts, 0
		}
	}
}
