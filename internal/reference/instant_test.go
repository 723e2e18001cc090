package reference

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/sigma/ast"
)

// stamp is every textual time: date and time, fraction, offset.
var stamp = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?(?:([Zz])|([+-](?:[01]\d|2[0-3])):?([0-5]\d))?$`)

var loose = regexp.MustCompile(`[+-]\d{4}$`)

// parseStamp reads a textual time; without offset it is UTC. Sub-seconds are
// dropped: nothing asks for them.
func parseStamp(s string) (time.Time, bool) {
	m := stamp.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}, false
	}
	zone := "Z"
	if m[5] != "" {
		zone = m[5] + ":" + m[6]
	}
	t, err := time.Parse(time.RFC3339, m[1]+"T"+m[2]+zone)
	return t, err == nil
}

// time is the event's time in seconds.
func (ev *Event) time(fields []string) (int64, bool) {
	names := append(append([]string{}, fields...), "@timestamp", "timestamp", "EventTime", "TimeCreated", "eventTime")
	for _, name := range names {
		if v := ev.look(parsePath(name, 2)); v != nil {
			if t, ok := v.seconds(); ok {
				return max(0, min(t, 1<<62-1)), true
			}
		}
	}
	return 0, false
}

var epoch = regexp.MustCompile(`^\d{10,19}$`)

func (v *value) seconds() (int64, bool) {
	switch v.kind {
	case text:
		if epoch.MatchString(v.text) {
			return scaled(parseNumber(v.text)), true
		}
		t, ok := parseStamp(v.text)
		return t.Unix(), ok
	case number:
		return scaled(parseNumber(v.raw)), true
	}
	return 0, false
}

// scaled reads a number as seconds, or a finer unit when it is too large.
func scaled(n numeric) int64 {
	if n.negative || n.float < 0 {
		return 0 // clamped anyway
	}
	if !n.whole {
		f := math.Trunc(n.float)
		if f >= 1<<64 {
			return int64(min(f/1e9, 1<<62))
		}
		n.magnitude = uint64(f)
	}
	switch m := n.magnitude; {
	case m > 1e18:
		return int64(m / 1e9)
	case m > 1e15:
		return int64(m / 1e6)
	case m > 1e12:
		return int64(m / 1e3)
	}
	return int64(n.magnitude)
}

// timePart compares a part of a time.
func timePart(v ast.Value, m ast.Modifiers) (*alternative, error) {
	part := func(t time.Time) int {
		switch {
		case m.Has(ast.Minute):
			return t.Minute()
		case m.Has(ast.Hour):
			return t.Hour()
		case m.Has(ast.Day):
			return t.Day()
		case m.Has(ast.Month):
			return int(t.Month())
		case m.Has(ast.Year):
			return t.Year()
		}
		_, week := t.ISOWeek()
		return week
	}
	form := func(v *value) (numeric, bool) {
		t, ok := v.instant()
		if !ok {
			return numeric{}, false
		}
		return parseNumber(fmt.Sprint(part(t.UTC()))), true
	}
	return numberAlternative("timestamp", "= ", v.Text, form, func(order int) bool { return order == 0 })
}

// instant is the time a value states, to the second.
func (v *value) instant() (time.Time, bool) {
	switch v.kind {
	case text:
		if loose.MatchString(v.text) {
			return time.Time{}, false // an offset without colon is not RFC 3339
		}
		return parseStamp(v.text)
	case number:
		// No epoch is counted in more than 63 bits.
		f, err := strconv.ParseFloat(v.raw, 64)
		if err != nil || math.Abs(f) >= 1<<63 {
			return time.Time{}, false
		}
		unit := 1.0
		switch a := math.Abs(f); {
		case a > 1e18:
			unit = 1e9
		case a > 1e15:
			unit = 1e6
		case a > 1e12:
			unit = 1e3
		}
		if n := parseNumber(v.raw); n.whole {
			u := uint64(unit)
			if n.negative {
				return time.Unix(-int64((n.magnitude+u-1)/u), 0), true
			}
			return time.Unix(int64(n.magnitude/u), 0), true
		}
		return time.Unix(int64(math.Floor(f/unit)), 0), true
	}
	return time.Time{}, false
}
