package timespan

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"
)

// Duration is a duration in the long grammar of configuration files.
type Duration time.Duration

// Seconds makes a Duration of n seconds.
func Seconds(n int64) Duration { return Duration(time.Duration(n) * time.Second) }

// Units of the long grammar that package time does not have. Months and years
// are those of Sigma timespans.
const (
	Day   = Duration(24 * time.Hour)
	Week  = 7 * Day
	Month = Duration(2629746 * time.Second)
	Year  = Duration(31556952 * time.Second)
)

// ParseDuration reads a sequence of numbers with units, blanks allowed between
// all of them: "30d", "1h 30m", "2 days". Numbers are unsigned integers. A bare
// number is an error, as is a sum beyond some 292 years.
func ParseDuration(s string) (Duration, error) {
	bad := func(why string) (Duration, error) { return 0, fmt.Errorf("invalid duration %q: %s", s, why) }
	rest := strings.Trim(s, " \t")
	if rest == "" {
		return bad("a number and a unit are needed")
	}
	var sum uint64
	for rest != "" {
		digits := leading(rest, func(c byte) bool { return '0' <= c && c <= '9' })
		if digits == "" {
			return bad("a number is needed before the unit")
		}
		rest = strings.TrimLeft(rest[len(digits):], " \t")
		word := leading(rest, func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80 })
		if word == "" {
			return bad("a unit is needed behind the number")
		}
		unit := durationUnit(word)
		if unit == 0 {
			return bad(fmt.Sprintf("unknown unit %q (ns us ms s m h d w M y)", word))
		}
		rest = strings.TrimLeft(rest[len(word):], " \t")
		var n uint64
		for i := range len(digits) {
			hi, lo := bits.Mul64(n, 10)
			if hi != 0 || lo > 1<<63 {
				return bad("too long")
			}
			n = lo + uint64(digits[i]-'0')
		}
		hi, lo := bits.Mul64(n, uint64(unit))
		if sum += lo; hi != 0 || lo >= 1<<63 || sum >= 1<<63 {
			return bad("too long")
		}
	}
	return Duration(sum), nil
}

func leading(s string, in func(byte) bool) string {
	for i := range len(s) {
		if !in(s[i]) {
			return s[:i]
		}
	}
	return s
}

func durationUnit(word string) Duration {
	switch word {
	case "ns", "nsec", "nanosecond", "nanoseconds":
		return 1
	case "us", "usec", "µs", "μs", "microsecond", "microseconds":
		return Duration(time.Microsecond)
	case "ms", "msec", "millisecond", "milliseconds":
		return Duration(time.Millisecond)
	case "s", "sec", "secs", "second", "seconds":
		return Duration(time.Second)
	case "m", "min", "mins", "minute", "minutes":
		return Duration(time.Minute)
	case "h", "hr", "hrs", "hour", "hours":
		return Duration(time.Hour)
	case "d", "day", "days":
		return Day
	case "w", "week", "weeks":
		return Week
	case "M", "month", "months":
		return Month
	case "y", "year", "years":
		return Year
	}
	return 0
}

// Std returns the duration as package time has it.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String writes the duration in units of the long grammar, largest first.
func (d Duration) String() string {
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	if d < 0 {
		b.WriteByte('-')
		d = -max(d, -math.MaxInt64)
	}
	blank := ""
	for _, u := range []struct {
		name string
		unit Duration
	}{
		{"d", Day},
		{"h", Duration(time.Hour)},
		{"m", Duration(time.Minute)},
		{"s", Duration(time.Second)},
		{"ms", Duration(time.Millisecond)},
		{"us", Duration(time.Microsecond)},
		{"ns", 1},
	} {
		if n := d / u.unit; n > 0 {
			fmt.Fprintf(&b, "%s%d%s", blank, int64(n), u.name)
			blank = " "
			d %= u.unit
		}
	}
	return b.String()
}

// MarshalText writes what UnmarshalText reads back.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the grammar of ParseDuration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := ParseDuration(string(b))
	if err != nil {
		return err
	}
	*d = v
	return nil
}
