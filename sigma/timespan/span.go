package timespan

import (
	"fmt"
	"strconv"
	"time"
)

// Span is a Sigma timespan: whole seconds, never negative, at most MaxSpan.
type Span int64

// MaxSpan bounds every timespan, so that sums of a span and a time fit.
const MaxSpan Span = 1 << 62

// ParseSpan reads one integer and one unit of s, m, h, d, w, M and y, and
// nothing else: no sign, blank, fraction or second part.
func ParseSpan(s string) (Span, error) {
	bad := fmt.Errorf("%q is no timespan (digits and one of s m h d w M y)", s)
	if len(s) < 2 {
		return 0, bad
	}
	unit := spanUnit(s[len(s)-1])
	digits := s[:len(s)-1]
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, bad
		}
	}
	if unit == 0 {
		return 0, bad
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || n > uint64(MaxSpan/unit) {
		return 0, fmt.Errorf("timespan %q is too long", s)
	}
	return Span(n) * unit, nil
}

func spanUnit(c byte) Span {
	switch c {
	case 's':
		return 1
	case 'm':
		return 60
	case 'h':
		return 3600
	case 'd':
		return 86400
	case 'w':
		return 604800
	case 'M':
		return 2629746
	case 'y':
		return 31556952
	}
	return 0
}

// Seconds returns the number of seconds.
func (s Span) Seconds() int64 { return int64(s) }

// Duration returns the span as a time.Duration, the longest one if it does not fit.
func (s Span) Duration() time.Duration {
	const longest = time.Duration(1<<63 - 1)
	if s > Span(longest/time.Second) {
		return longest
	}
	return time.Duration(s) * time.Second
}

// String writes the span in the largest unit that divides it.
func (s Span) String() string {
	for _, u := range []byte("ywdhm") {
		if n := spanUnit(u); s != 0 && s%n == 0 {
			return strconv.FormatInt(int64(s/n), 10) + string(u)
		}
	}
	return strconv.FormatInt(int64(s), 10) + "s"
}

// MarshalText writes what UnmarshalText reads back.
func (s Span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the grammar of ParseSpan.
func (s *Span) UnmarshalText(b []byte) error {
	v, err := ParseSpan(string(b))
	if err != nil {
		return err
	}
	*s = v
	return nil
}
