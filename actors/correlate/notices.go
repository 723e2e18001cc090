package correlate

import (
	"log/slog"
	"time"

	"github.com/sluicehq/sluice/internal/ratelog"
	"github.com/sluicehq/sluice/sigma/correlation"
)

// notices are what operators are told of, each kind once in a while.
type notices struct {
	limit ratelog.Limit

	late, truncated int // not told yet

	rounds, groups int                 // of evictions, not told yet
	last           correlation.Outcome // of the last of them
	limits         correlation.Limits
}

// add counts what one event did.
func (n *notices) add(o *correlation.Outcome) {
	n.late += o.Late
	n.truncated += o.Truncated
}

// evicted tells that groups were removed because of a limit.
func (n *notices) evicted(log *slog.Logger, o *correlation.Outcome, limits correlation.Limits, now time.Time) {
	n.rounds++
	n.groups += o.Evicted
	n.last, n.limits = *o, limits
	n.tellEvicted(log, now)
}

func (n *notices) tellEvicted(log *slog.Logger, now time.Time) {
	if n.rounds == 0 || !n.due("evicted", now) {
		return
	}
	reached := "max_state_entries"
	if n.last.Before < n.limits.Groups {
		reached = "max_state_bytes"
	}
	log.Warn("correlation state is full, groups evicted", "groups", n.last.Before, "max_state_entries", n.limits.Groups,
		"bytes", n.last.Bytes, "max_state_bytes", n.limits.Bytes, "evicted", n.groups, "rounds", n.rounds,
		"hint", "raise "+reached+" or shorten windows")
	n.rounds, n.groups = 0, 0
}

// due reports whether a kind of notice may be told, which it is then.
func (n *notices) due(kind string, now time.Time) bool {
	_, ok := n.limit.Allow(kind, 0, now)
	return ok
}

// tell reports what gathered since the last time.
func (n *notices) tell(log *slog.Logger, now time.Time) {
	n.tellEvicted(log, now)
	if n.late+n.truncated == 0 || !n.due("withheld", now) {
		return
	}
	if n.late > 0 {
		log.Warn("matches are too late for their windows", "count", n.late)
	}
	if n.truncated > 0 {
		log.Warn("correlations chained too deep, firings not propagated", "count", n.truncated, "levels", correlation.MaxLevels)
	}
	n.late, n.truncated = 0, 0
}

// rest reports what nobody would be told of any more.
func (n *notices) rest(log *slog.Logger, now time.Time) {
	n.limit = ratelog.Limit{}
	n.tell(log, now)
}
