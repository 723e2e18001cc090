package alert

import (
	"fmt"
	"time"

	"github.com/sluicehq/sluice/sigma/timespan"
)

// span is a duration of the file, in whole seconds: fractions are cut off, but what is more
// than nothing is a second at least.
type span struct {
	seconds int64
	raised  time.Duration // what was written, when a second is taken in its place
}

// UnmarshalText reads "1h 30m" or "30s"; 0 needs no unit.
func (s *span) UnmarshalText(text []byte) error {
	*s = span{}
	if string(text) == "0" {
		return nil
	}
	d, err := timespan.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%w (such as 30s, 5m or 1h 30m)", err)
	}
	s.seconds = int64(d.Std() / time.Second)
	if d > 0 && s.seconds == 0 {
		s.seconds, s.raised = 1, d.Std()
	}
	return nil
}

// span is the seconds of a setting, and what they are otherwise.
func (b *builder) span(key string, s *span, otherwise int64) int64 {
	if s == nil {
		return otherwise
	}
	if s.raised > 0 {
		b.warn(key, "%s is less than a second, and is taken as 1s", s.raised)
	}
	return s.seconds
}
