package correlate

import (
	"log/slog"
	"time"

	"github.com/sluicehq/sluice/sigma/correlation"
)

// pause is how long a repeating condition is not logged again.
const pause = 10 * time.Second

// notices are what operators are told of, each kind once in a while.
type notices struct {
	late, truncated int // not told yet
	told            time.Time

	rounds, groups int // of evictions, not told yet
	before, limit  int // groups there were before the last of them, and may be
	evictedTold    time.Time
}

// add counts what one event did.
func (n *notices) add(o *correlation.Outcome) {
	n.late += o.Late
	n.truncated += o.Truncated
}

// evicted tells that groups were removed because of the limit.
func (n *notices) evicted(log *slog.Logger, o *correlation.Outcome, limit int, now time.Time) {
	n.rounds++
	n.groups += o.Evicted
	n.before, n.limit = o.Before, limit
	n.tellEvicted(log, now)
}

func (n *notices) tellEvicted(log *slog.Logger, now time.Time) {
	if n.rounds == 0 || now.Sub(n.evictedTold) < pause {
		return
	}
	log.Warn("correlation state is full, groups evicted", "groups", n.before, "max_state_entries", n.limit, "evicted", n.groups, "rounds", n.rounds,
		"hint", "raise max_state_entries or shorten windows")
	n.rounds, n.groups, n.evictedTold = 0, 0, now
}

// tell reports what gathered since the last time.
func (n *notices) tell(log *slog.Logger, now time.Time) {
	n.tellEvicted(log, now)
	if n.late+n.truncated == 0 || now.Sub(n.told) < pause {
		return
	}
	if n.late > 0 {
		log.Warn("matches are too late for their windows", "count", n.late)
	}
	if n.truncated > 0 {
		log.Warn("correlations chained too deep, firings not propagated", "count", n.truncated, "levels", correlation.MaxLevels)
	}
	n.late, n.truncated, n.told = 0, 0, now
}

// rest reports what nobody would be told of any more.
func (n *notices) rest(log *slog.Logger, now time.Time) {
	n.told, n.evictedTold = time.Time{}, time.Time{}
	n.tell(log, now)
}
