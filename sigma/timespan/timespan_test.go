package timespan

import (
	"math"
	"testing"
	"time"
)

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]int64{
		"1s": 1, "90s": 90, "5m": 300, "1h": 3600, "1d": 86400, "2w": 1209600, "1M": 2629746, "1y": 31556952, "0s": 0, "007s": 7,
		"4611686018427387904s": 1 << 62,
	} {
		got, err := ParseSpan(text)
		if err != nil || got.Seconds() != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "s", "90", "-1s", "+1s", "1.5h", "1h30m", "1 h", " 1h", "1h ", "1H", "1ms", "1S", "4611686018427387905s", "99999999999999999999s", "9223372036854775807y", "é"} {
		if got, err := ParseSpan(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func TestSpansReadBack(t *testing.T) {
	for _, s := range []Span{0, 1, 59, 60, 61, 3600, 86400, 604800, 2629746, 31556952, MaxSpan} {
		if got, err := ParseSpan(s.String()); err != nil || got != s {
			t.Errorf("%d is written as %s, read as %d, %v", s, s, got, err)
		}
	}
	if got := MaxSpan.Duration(); got != math.MaxInt64 {
		t.Errorf("the longest span is %d, want the longest duration", got)
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30d": 720 * time.Hour, "1h 30m": 90 * time.Minute, "1h30m": 90 * time.Minute, "2 days": 48 * time.Hour, "1 day": 24 * time.Hour,
		"250ms": 250 * time.Millisecond, "5us": 5 * time.Microsecond, "7ns": 7, "1w": 168 * time.Hour, "1M": 2629746 * time.Second,
		"1y": 31556952 * time.Second, "2 weeks 1 second": 336*time.Hour + time.Second, "0s": 0, " 5 min ": 5 * time.Minute,
		"1 month 2 years": 65743650 * time.Second, "9223372036854775807ns": math.MaxInt64,
	} {
		got, err := ParseDuration(text)
		if err != nil || got.Std() != want {
			t.Errorf("%s: got %v, %v, want %v", text, got.Std(), err, want)
		}
	}
	for _, text := range []string{"", " ", "30", "h", "1.5h", "-1h", "1 fortnight", "1H", "1h 5", "300y", "9223372036854775808ns", "99999999999999999999s", "292y 292y"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestDurationsReadBack(t *testing.T) {
	for _, d := range []Duration{0, 1, Seconds(1), Seconds(90), Day, Week + 1, Year, math.MaxInt64, Duration(1500 * time.Millisecond)} {
		if got, err := ParseDuration(d.String()); err != nil || got != d {
			t.Errorf("%d is written as %s, read as %d, %v", d, d, got, err)
		}
	}
	if got := Duration(math.MinInt64).String(); got[0] != '-' {
		t.Errorf("the least duration is written as %s", got)
	}
	if got := Seconds(5400).String(); got != "1h 30m" {
		t.Errorf("got %s, want 1h 30m", got)
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"1000": 1000, "64KiB": 65536, "1MiB": 1 << 20, "1 GiB": 1 << 30, "0": 0, "128MiB": 134217728,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "2XB", "-1", "1.5MiB", "1mib", "1MB", "MiB", "9223372036854775807KiB"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
	for _, b := range []Bytes{0, 1, 1000, KiB, 3 * MiB, GiB, 1536 * KiB} {
		if got, err := ParseBytes(b.String()); err != nil || got != b {
			t.Errorf("%d is written as %s, read as %d, %v", b, b, got, err)
		}
	}
}
