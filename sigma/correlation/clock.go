package correlation

import "math"

// streamClock is the time of the stream of events, for expiry and eviction
// only. Between events it advances with the wall time; it never moves back, and
// a single event from the far future does not move it.
type streamClock struct {
	started bool
	value   int64 // the clock at wall time at
	at      int64
	ahead   int // consecutive events too far ahead
}

const (
	maxLead  = 24 * 60 * 60 // how far one event may move the clock
	believed = 3            // so many events further ahead are believed
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

// latest returns the newest time that a group may have at the given wall time. A
// later time is an error of a single event, because the events after it were earlier.
// While the last events are all too far ahead, the stream may have continued after a
// pause, and every time is accepted. Of these last events, inHand have not reached
// their groups yet.
func (c *streamClock) latest(wall int64, inHand int) int64 {
	if c.ahead > inHand {
		return math.MaxInt64
	}
	return c.now(wall)
}

// observe takes the time of an event with a match record.
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
