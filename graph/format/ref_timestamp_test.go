package format

import (
	"strconv"
	"strings"
	"time"
)

// refFuture is how far after its arrival a stamp without a year may lie.
const refFuture = 7 * 24 * time.Hour

// refStamp reads a syslog timestamp at the start of s: RFC 3339, "-" for none, or
// one of the BSD forms, which are local times of zone. It returns the time as it
// is rendered and what follows.
func refStamp(s string, zone *time.Location, arrival int64) (rendered, rest string, ok bool) {
	word, after := refCutWord(s)
	if word == "-" {
		return "", after, true
	}
	if at, err := time.Parse(time.RFC3339Nano, word); err == nil {
		return refRender(at), after, true
	}
	at, rest, ok := refBsdStamp(s, zone, arrival)
	if !ok {
		return "", "", false
	}
	return refRender(at), rest, true
}

// refBsdStamp reads "Mon D HH:MM:SS" and "Mon D YYYY HH:MM:SS", with an optional
// colon behind.
func refBsdStamp(s string, zone *time.Location, arrival int64) (time.Time, string, bool) {
	var none time.Time
	name, rest := refCutWord(s)
	month, ok := refMonthNamed(name)
	if !ok {
		return none, "", false
	}
	dayText, rest := refCutWord(rest)
	day, ok := refNumber(dayText, 1, 2)
	if !ok {
		return none, "", false
	}
	clock, rest := refCutWord(rest)
	year := -1
	if y, ok := refNumber(clock, 4, 4); ok {
		year = y
		clock, rest = refCutWord(rest)
	}
	hour, minute, second, ok := refClockTime(strings.TrimSuffix(clock, ":"))
	if !ok {
		return none, "", false
	}
	in := func(year int) (time.Time, bool) {
		at := time.Date(year, month, day, hour, minute, second, 0, zone)
		return at, at.Month() == month && at.Day() == day
	}
	if year >= 0 {
		at, ok := in(year)
		return at, rest, ok
	}
	latest := time.Unix(arrival, 0).Add(refFuture)
	for year = latest.In(zone).Year(); year > latest.Year()-9; year-- { // a leap day may be 8 years back
		if at, ok := in(year); ok && !at.After(latest) {
			return at, rest, true
		}
	}
	return none, "", false
}

func refMonthNamed(name string) (time.Month, bool) {
	if len(name) != 3 {
		return 0, false
	}
	for m := time.January; m <= time.December; m++ {
		if strings.EqualFold(m.String()[:3], name) {
			return m, true
		}
	}
	return 0, false
}

func refClockTime(s string) (hour, minute, second int, ok bool) {
	if len(s) != 8 || s[2] != ':' || s[5] != ':' {
		return 0, 0, 0, false
	}
	hour, ok1 := refNumber(s[:2], 2, 2)
	minute, ok2 := refNumber(s[3:5], 2, 2)
	second, ok3 := refNumber(s[6:], 2, 2)
	return hour, minute, second, ok1 && ok2 && ok3 && hour < 24 && minute < 60 && second < 60
}

// refNumber reads decimal digits, so many at least and at most.
func refNumber(s string, least, most int) (int, bool) {
	if len(s) < least || len(s) > most {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// refRender writes a time with a numeric offset and as many groups of three
// fraction digits as it needs.
func refRender(at time.Time) string {
	layout := "2006-01-02T15:04:05-07:00"
	switch ns := at.Nanosecond(); {
	case ns == 0:
	case ns%1e6 == 0:
		layout = "2006-01-02T15:04:05.000-07:00"
	case ns%1e3 == 0:
		layout = "2006-01-02T15:04:05.000000-07:00"
	default:
		layout = "2006-01-02T15:04:05.000000000-07:00"
	}
	return at.Format(layout)
}

// refCutWord returns the first run of non-spaces, and what follows it without the
// spaces in between.
func refCutWord(s string) (word, rest string) {
	i := strings.IndexByte(s, ' ')
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " ")
}
