package logging

import (
	"fmt"
	"log/slog"
	"strings"
)

// Levels beside those of slog.
const (
	LevelTrace = slog.LevelDebug - 4
	levelOff   = slog.Level(127)
)

// Filter holds the least severe level per target. The longest prefix of a
// target wins.
type Filter struct {
	rest  slog.Level
	rules []filterRule
}

type filterRule struct {
	target string
	level  slog.Level
}

// DefaultFilter lets info and worse through.
func DefaultFilter() Filter { return Filter{rest: slog.LevelInfo} }

// ParseFilter reads "level" and "target=level" entries separated by commas.
func ParseFilter(text string) (Filter, error) {
	f := DefaultFilter()
	for entry := range strings.SplitSeq(text, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		target, name, named := strings.Cut(entry, "=")
		if !named {
			name, target = target, ""
		}
		level, ok := parseLevel(strings.TrimSpace(name))
		if !ok {
			return DefaultFilter(), fmt.Errorf("log filter %q: unknown level %q", text, name)
		}
		if target = strings.TrimSpace(target); target == "" {
			if named {
				return DefaultFilter(), fmt.Errorf("log filter %q: a target is missing", text)
			}
			f.rest = level
			continue
		}
		f.rules = append(f.rules, filterRule{target, level})
	}
	return f, nil
}

// String writes the filter as ParseFilter reads it, the level of all other targets
// first.
func (f Filter) String() string {
	var b strings.Builder
	b.WriteString(filterLevel(f.rest))
	for _, r := range f.rules {
		b.WriteString("," + r.target + "=" + filterLevel(r.level))
	}
	return b.String()
}

// Enabled reports whether a line of this level and target is written.
func (f Filter) Enabled(target string, level slog.Level) bool {
	least, best := f.rest, -1
	for _, r := range f.rules {
		if len(r.target) > best && strings.HasPrefix(target, r.target) {
			least, best = r.level, len(r.target)
		}
	}
	return level >= least
}

func parseLevel(name string) (slog.Level, bool) {
	switch strings.ToLower(name) {
	case "off":
		return levelOff, true
	case "error":
		return slog.LevelError, true
	case "warn":
		return slog.LevelWarn, true
	case "info":
		return slog.LevelInfo, true
	case "debug":
		return slog.LevelDebug, true
	case "trace":
		return LevelTrace, true
	}
	return 0, false
}

// filterLevel is the word of a level in a filter.
func filterLevel(l slog.Level) string {
	if l == levelOff {
		return "off"
	}
	return strings.ToLower(levelName(l))
}

func levelName(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return "ERROR"
	case l >= slog.LevelWarn:
		return "WARN"
	case l >= slog.LevelInfo:
		return "INFO"
	case l >= slog.LevelDebug:
		return "DEBUG"
	}
	return "TRACE"
}
