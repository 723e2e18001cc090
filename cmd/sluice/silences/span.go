package silences

import (
	"errors"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/sigma/timespan"
)

// Span is when a silence is in force, as flags say it: for a span, from and until a time.
// Empty texts are absent.
type Span struct{ For, From, Until string }

// Times are the start and the end at now, zero when there is none.
func (s Span) Times(now time.Time) (start, end time.Time, err error) {
	if s.From != "" {
		if start, err = readTime("--from", s.From, now); err != nil {
			return start, end, err
		}
	}
	switch {
	case s.For != "" && s.Until != "":
		return start, end, errors.New("--for and --until both say when it ends: leave one out")
	case s.For != "":
		d, err := length(s.For)
		if err != nil {
			return start, end, err
		}
		begin := now
		if !start.IsZero() {
			begin = start
		}
		end = begin.Add(d)
	case s.Until != "":
		if end, err = readTime("--until", s.Until, now); err != nil {
			return start, end, err
		}
	}
	switch {
	case end.IsZero():
	case !end.After(now):
		return start, end, fmt.Errorf("the silence would end at %s, which is over", Instant(end))
	case !start.IsZero() && end.Unix() <= start.Unix():
		return start, end, fmt.Errorf("the silence would end at %s, and begin at %s", Instant(end), Instant(start))
	}
	return start, end, nil
}

// Later is the end of a silence that is extended, of which the end was before.
func (s Span) Later(before, now time.Time) (time.Time, error) {
	switch {
	case s.For == "" && s.Until == "":
		return before, errors.New("say for how much longer with --for, or until when with --until")
	case s.For != "" && s.Until != "":
		return before, errors.New("--for and --until both say when it ends: leave one out")
	case s.For != "":
		d, err := length(s.For)
		if now.After(before) {
			before = now
		}
		return before.Add(d), err
	}
	end, err := readTime("--until", s.Until, now)
	if err == nil && end.Unix() <= before.Unix() {
		err = fmt.Errorf("--until: %s is no later than its end, %s", Instant(end), Instant(before))
	}
	return end, err
}

func length(text string) (time.Duration, error) {
	d, err := timespan.ParseDuration(text)
	if err != nil || d.Std() < time.Second {
		return 0, fmt.Errorf("--for: %q is no span of a second or more (such as 30m, 2h or 1d)", text)
	}
	return d.Std(), nil
}

// readTime reads a time, or a span behind now.
func readTime(flag, text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if d, err := timespan.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(d.Std()), nil
	}
	return time.Time{}, fmt.Errorf("%s: %q is neither a time (2026-03-01T10:00:00Z) nor a span from now on (such as 2h or 30m)", flag, text)
}

// Instant is a time as silences have it: in UTC, in whole seconds; empty for none.
func Instant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05Z")
}
