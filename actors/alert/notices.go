package alert

import (
	"log/slog"
	"time"

	"github.com/sluicehq/sluice/graph/alert"
	"github.com/sluicehq/sluice/internal/ratelog"
)

// notices tell of what a limit refused, or let go, of each limit once a minute.
type notices struct {
	limit               ratelog.Limit
	unstored, ungrouped int // not told yet
	unindexed, evicted  int // likewise
}

func newNotices() notices { return notices{limit: ratelog.Limit{Every: time.Minute}} }

// add counts what happened to a result.
func (n *notices) add(o *alert.Outcome) {
	n.unstored += o.Unstored
	n.ungrouped += o.Ungrouped
	n.unindexed += o.Unindexed
	n.evicted += o.Evicted
}

// tell reports what gathered since the last time.
func (n *notices) tell(log *slog.Logger, now time.Time) {
	const hint = ", or choose selectors with fewer values"
	const memory = ", or shorter ones: there is also a bound of 256 MiB for what they hold"
	n.unstored = n.one(log, "results", "too many alerts are active, results pass without deduplication", "raise max_active_alerts"+hint+memory, n.unstored, now)
	n.ungrouped = n.one(log, "results", "too many incidents are open, results pass without an incident", "raise max_open_incidents"+hint+memory, n.ungrouped, now)
	n.unindexed = n.one(log, "results", "too many values belong to incidents, results are not found by further ones", "raise max_entities_per_incident"+hint, n.unindexed, now)
	n.evicted = n.one(log, "sources", "too many sources inhibit, those seen longest ago inhibit no more", "choose equal with fewer values, or a shorter duration", n.evicted, now)
}

func (n *notices) one(log *slog.Logger, things, message, hint string, count int, now time.Time) (untold int) {
	if count == 0 {
		return 0
	}
	if _, ok := n.limit.Allow(message, 0, now); !ok {
		return count
	}
	log.Warn(message, things, count, "hint", hint)
	return 0
}

// rest reports what nobody would be told of any more.
func (n *notices) rest(log *slog.Logger, now time.Time) {
	n.limit = ratelog.Limit{}
	n.tell(log, now)
}
