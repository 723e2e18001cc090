package event

import (
	"math"
	"time"
)

// maxInstant is the largest event time, in seconds.
const maxInstant = 1<<62 - 1

// Instant reads v as the time of an event, in whole seconds since 1970 and never
// negative. Numbers are seconds, or smaller units when they are large.
func (v Value) Instant(scratch []byte) (sec int64, ok bool, _ []byte) {
	switch v.Type {
	case Number:
		sec, ok = numberInstant(v.Raw)
	case String, Text:
		scratch, _ = v.AppendText(scratch[:0])
		if n := len(scratch); 10 <= n && n <= 19 && digits(scratch) == n {
			sec, ok = numberInstant(scratch)
		} else {
			sec, ok = parseStamp(scratch, true)
		}
	}
	return min(max(sec, 0), maxInstant), ok, scratch
}

func numberInstant(text []byte) (int64, bool) {
	n, ok := ParseNumeric(text)
	if !ok {
		return 0, false
	}
	if n.Float <= 0 {
		return 0, true
	}
	if !n.Exact || n.Abs > math.MaxInt64 {
		if n.Float >= math.MaxInt64 {
			return int64(math.Min(n.Float/1e9, maxInstant)), true
		}
		n.Abs = uint64(n.Float)
	}
	return int64(n.Abs) / unitOf(n.Abs), true
}

// unitOf says how many of a stamp's units make a second, by its magnitude.
func unitOf[N uint64 | float64](magnitude N) int64 {
	switch {
	case magnitude > 1e18:
		return 1e9
	case magnitude > 1e15:
		return 1e6
	case magnitude > 1e12:
		return 1e3
	}
	return 1
}

// Clock reads v as a timestamp whose parts (minute, hour and so on) are compared.
// The time is UTC, to the second.
func (v Value) Clock(scratch []byte) (t time.Time, ok bool, _ []byte) {
	var sec int64
	switch v.Type {
	case Number:
		sec, ok = numberClock(v.Raw)
	case String, Text:
		scratch, _ = v.AppendText(scratch[:0])
		sec, ok = parseStamp(scratch, false)
	}
	if !ok {
		return time.Time{}, false, scratch
	}
	return time.Unix(sec, 0).UTC(), true, scratch
}

func numberClock(text []byte) (int64, bool) {
	n, ok := ParseNumeric(text)
	if !ok || math.Abs(n.Float) >= math.MaxInt64 {
		return 0, false
	}
	unit := unitOf(math.Abs(n.Float))
	if !n.Exact {
		return int64(math.Floor(n.Float / float64(unit))), true
	}
	i := int64(n.Abs)
	if !n.Negative {
		return i / unit, true
	}
	return -((i + unit - 1) / unit), true
}

// parseStamp reads an RFC 3339 time, or one without offset as UTC. An offset
// without colon is accepted when lenient.
func parseStamp(s []byte, lenient bool) (int64, bool) {
	if len(s) < 19 || s[4] != '-' || s[7] != '-' || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	if s[10] != 'T' && s[10] != 't' && s[10] != ' ' {
		return 0, false
	}
	year, ok1 := decimal(s[0:4])
	month, ok2 := decimal(s[5:7])
	day, ok3 := decimal(s[8:10])
	hour, ok4 := decimal(s[11:13])
	minute, ok5 := decimal(s[14:16])
	second, ok6 := decimal(s[17:19])
	decimals := ok1 && ok2 && ok3 && ok4 && ok5 && ok6
	if !decimals || hour > 23 || minute > 59 || second > 59 || month < 1 || month > 12 {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if t.Day() != day || day < 1 {
		return 0, false
	}
	s = s[19:]
	if len(s) > 0 && s[0] == '.' {
		n := digits(s[1:])
		if n == 0 {
			return 0, false
		}
		s = s[1+n:]
	}
	offset, ok := parseOffset(s, lenient)
	return t.Unix() - offset, ok
}

// parseOffset reads the rest of a time, in seconds east of UTC.
func parseOffset(s []byte, lenient bool) (int64, bool) {
	switch {
	case len(s) == 0, len(s) == 1 && (s[0] == 'Z' || s[0] == 'z'):
		return 0, true
	case len(s) == 5 && lenient:
		s = []byte{s[0], s[1], s[2], ':', s[3], s[4]}
	}
	if len(s) != 6 || s[3] != ':' || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	hours, ok1 := decimal(s[1:3])
	minutes, ok2 := decimal(s[4:6])
	if !ok1 || !ok2 || hours > 23 || minutes > 59 {
		return 0, false
	}
	offset := int64(hours*3600 + minutes*60)
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true
}

func decimal(s []byte) (int, bool) {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
