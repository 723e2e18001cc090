package format

import (
	"fmt"
	"strings"
	"time"
)

// ParseZone reads the offset of syslog timestamps that name none: UTC, utc, Z,
// or a sign, hours, a colon and minutes.
func ParseZone(text string) (*time.Location, error) {
	switch text {
	case "UTC", "utc", "Z":
		return time.UTC, nil
	}
	bad := fmt.Errorf("bad offset %q: want UTC, or a sign, hours, a colon and minutes, as in +05:30", text)
	if text == "" || (text[0] != '+' && text[0] != '-') {
		return nil, bad
	}
	hourText, minuteText, found := strings.Cut(text[1:], ":")
	hours, ok := number(hourText, 1, 2)
	minutes, alsoOK := number(minuteText, 1, 2)
	if !found || !ok || !alsoOK || hours > 23 || minutes > 59 {
		return nil, bad
	}
	seconds := (hours*60 + minutes) * 60
	if text[0] == '-' {
		seconds = -seconds
	}
	if seconds == 0 {
		return time.UTC, nil
	}
	return time.FixedZone(text, seconds), nil
}
