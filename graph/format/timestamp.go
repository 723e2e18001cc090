package format

import (
	"bytes"
	"time"
)

// future is how far after its arrival a stamp without a year may lie, in seconds.
const future = 7 * 24 * 3600

// stamp is a timestamp as it is rendered: with a numeric offset and as many groups of
// three fraction digits as it needs.
type stamp struct {
	text   [len("2006-01-02T15:04:05.000000000-07:00")]byte
	length int
}

// read reads a syslog timestamp at the start of s: RFC 3339, "-" for none, or one of the
// BSD forms, which are local times of zone, an offset. It returns what follows.
func (t *stamp) read(s []byte, zone *time.Location, arrival int64) (rest []byte, ok bool) {
	word, after := cutWord(s)
	if absent(word) {
		return after, true
	}
	if t.rfc3339(word) {
		return after, true
	}
	return t.bsd(s, zone, arrival)
}

// bsd reads "Mon D HH:MM:SS" and "Mon D YYYY HH:MM:SS", with an optional
// colon behind.
func (t *stamp) bsd(s []byte, zone *time.Location, arrival int64) (rest []byte, ok bool) {
	name, rest := cutWord(s)
	month, ok := monthNamed(name)
	if !ok {
		return nil, false
	}
	dayText, rest := cutWord(rest)
	day, ok := number(dayText, 1, 2)
	if !ok {
		return nil, false
	}
	clock, rest := cutWord(rest)
	year := -1
	if y, ok := number(clock, 4, 4); ok {
		year = y
		clock, rest = cutWord(rest)
	}
	if n := len(clock); n > 0 && clock[n-1] == ':' {
		clock = clock[:n-1]
	}
	hour, minute, second, ok := clockTime(clock)
	if !ok {
		return nil, false
	}
	latest := time.Unix(arrival+future, 0).In(zone)
	if year < 0 {
		year = latestYear(latest, month, day, 3600*hour+60*minute+second)
	}
	if day < 1 || day > daysIn(month, year) {
		return nil, false
	}
	_, offset := latest.Zone()
	t.date(year, month, day)
	t.text[10] = 'T'
	copy(t.text[11:], clock)
	t.offset(19, offset)
	return rest, true
}

// latestYear is the year of the latest time up to latest that has the month, the day and
// the second of it.
func latestYear(latest time.Time, month, day, second int) int {
	year, m, d := latest.Date()
	hour, minute, s := latest.Clock()
	if month > int(m) || month == int(m) && (day > d || day == d && second > 3600*hour+60*minute+s) {
		year--
	}
	if month == 2 && day == 29 {
		for last := year - 8; year > last && daysIn(month, year) < day; {
			year--
		}
	}
	return year
}

// months are the names of the months, three letters each.
const months = "janfebmaraprmayjunjulaugsepoctnovdec"

func monthNamed(name []byte) (int, bool) {
	if len(name) != 3 {
		return 0, false
	}
	a, b, c := name[0]|0x20, name[1]|0x20, name[2]|0x20
	for i := 0; i < len(months); i += 3 {
		if months[i+2] == c && months[i+1] == b && months[i] == a {
			return i/3 + 1, true
		}
	}
	return 0, false
}

func clockTime(s []byte) (hour, minute, second int, ok bool) {
	if len(s) != 8 || s[2] != ':' || s[5] != ':' {
		return 0, 0, 0, false
	}
	hour, minute, second = twoDigits(s), twoDigits(s[3:]), twoDigits(s[6:])
	return hour, minute, second, uint(hour) < 24 && uint(minute) < 60 && uint(second) < 60
}

// twoDigits is the number that s begins with, or negative.
func twoDigits(s []byte) int {
	tens, ones := s[0]-'0', s[1]-'0'
	if tens > 9 || ones > 9 {
		return -1
	}
	return 10*int(tens) + int(ones)
}

// number reads decimal digits, so many at least and at most.
func number[T string | []byte](s T, least, most int) (int, bool) {
	if len(s) < least || len(s) > most {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = 10*n + int(s[i]-'0')
	}
	return n, true
}

// render renders a time of the years 0 to 9999.
func (t *stamp) render(at time.Time) {
	year, month, day := at.Date()
	hour, minute, second := at.Clock()
	t.date(year, int(month), day)
	b := t.text[:]
	b[10] = 'T'
	putTwo(b[11:], hour)
	b[13] = ':'
	putTwo(b[14:], minute)
	b[16] = ':'
	putTwo(b[17:], second)
	_, offset := at.Zone()
	t.offset(19+putFraction(b[19:], at.Nanosecond()), offset)
}

// date renders a date.
func (t *stamp) date(year, month, day int) {
	b := t.text[:]
	putTwo(b, year/100)
	putTwo(b[2:], year%100)
	b[4] = '-'
	putTwo(b[5:], month)
	b[7] = '-'
	putTwo(b[8:], day)
}

// offset ends the rendering at n with an offset in seconds.
func (t *stamp) offset(n, offset int) {
	b := t.text[n:]
	b[0] = '+'
	if offset < 0 {
		offset, b[0] = -offset, '-'
	}
	putTwo(b[1:], offset/3600)
	b[3] = ':'
	putTwo(b[4:], offset/60%60)
	t.length = n + 6
}

func putTwo(b []byte, n int) { b[0], b[1] = '0'+byte(n/10), '0'+byte(n%10) }

// putFraction writes the groups of digits that are needed, behind a point, and returns
// how many bytes that takes.
func putFraction(b []byte, nanoseconds int) int {
	if nanoseconds == 0 {
		return 0
	}
	b[0] = '.'
	for i, n := 9, nanoseconds; i > 0; i-- {
		b[i] = '0' + byte(n%10)
		n /= 10
	}
	switch {
	case nanoseconds%1e6 == 0:
		return 4
	case nanoseconds%1e3 == 0:
		return 7
	}
	return 10
}

// rfc3339 reads a timestamp of RFC 3339, and what else the standard library takes for
// one.
func (t *stamp) rfc3339(word []byte) bool {
	if t.usual(word) {
		return true
	}
	if len(word) < len("2006-01-02T3:04:05Z") || word[4] != '-' || word[0] < '0' || word[0] > '9' {
		return false
	}
	at, err := time.Parse(time.RFC3339Nano, string(word))
	if err != nil {
		return false
	}
	t.render(at)
	return true
}

// usual reads "YYYY-MM-DDTHH:MM:SS", a fraction of at most nine digits, and Z or an
// offset.
func (t *stamp) usual(s []byte) bool {
	const seconds = len("2006-01-02T15:04:05")
	if len(s) <= seconds || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return false
	}
	century, year, month, day := twoDigits(s), twoDigits(s[2:]), twoDigits(s[5:]), twoDigits(s[8:])
	hour, minute, second := twoDigits(s[11:]), twoDigits(s[14:]), twoDigits(s[17:])
	if century < 0 || year < 0 || uint(month-1) > 11 || day < 1 || uint(hour) > 23 || uint(minute) > 59 || uint(second) > 59 {
		return false
	}
	if day > 28 && day > daysIn(month, 100*century+year) {
		return false
	}
	copy(t.text[:], s[:seconds])
	n := seconds
	s = s[seconds:]
	if s[0] == '.' {
		fraction, digits := 0, 0
		for s = s[1:]; digits < len(s) && s[digits]-'0' <= 9; digits++ {
			if digits == 9 {
				return false
			}
			fraction = 10*fraction + int(s[digits]-'0')
		}
		if digits == 0 || digits == len(s) {
			return false
		}
		s = s[digits:]
		for ; digits < 9; digits++ {
			fraction *= 10
		}
		n += putFraction(t.text[n:], fraction)
	}
	zone := t.text[n : n+6]
	switch {
	case len(s) == 1 && s[0] == 'Z', bytes.Equal(s, []byte("-00:00")):
		copy(zone, "+00:00")
	case len(s) == 6 && (s[0] == '+' || s[0] == '-') && s[3] == ':' && uint(twoDigits(s[1:])) < 24 && uint(twoDigits(s[4:])) < 60:
		copy(zone, s)
	default:
		return false
	}
	t.length = n + 6
	return true
}

// daysIn is how many days a month has.
func daysIn(month, year int) int {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4, month == 6, month == 9, month == 11:
		return 30
	}
	return 31
}
