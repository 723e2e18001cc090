package deadletters

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Filter chooses records. What is empty chooses all.
type Filter struct {
	Sinks  []string // any of them
	Stages []string // any of them
	Error  string   // part of the text, in any case
	Since  time.Time
	Until  time.Time // the first instant that is out
}

// Accepts reports whether the filter chooses a record.
func (f *Filter) Accepts(r *Record) bool {
	return (len(f.Sinks) == 0 || slices.Contains(f.Sinks, r.Sink)) &&
		(len(f.Stages) == 0 || slices.Contains(f.Stages, r.Stage)) &&
		(f.Error == "" || strings.Contains(strings.ToLower(r.Error), strings.ToLower(f.Error))) &&
		(f.Since.IsZero() || !r.Time.Before(f.Since)) &&
		(f.Until.IsZero() || r.Time.Before(f.Until))
}

// Stages are the stages that a dead letter may name.
func Stages() []string {
	all := []string{"ingest"}
	for _, s := range graph.Stages() {
		all = append(all, string(s))
	}
	return append(all, sink.StageDelivery)
}

// CheckStages refuses stages that no dead letter names.
func CheckStages(stages []string) error {
	known := Stages()
	for _, s := range stages {
		if !slices.Contains(known, s) {
			return suggest.Wrap(fmt.Errorf("%q is no stage (%s)", s, strings.Join(known, ", ")), s, known)
		}
	}
	return nil
}

// ParseTime reads a time, or a span before now.
func ParseTime(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if d, err := timespan.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d.Std()), nil
	}
	return time.Time{}, fmt.Errorf("%q is neither a time (2026-03-01T10:00:00Z) nor a span before now (such as 2h or 30m)", text)
}
