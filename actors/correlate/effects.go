package correlate

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/sigma/correlation"
)

// eviction is why a group was removed.
type eviction string

const (
	evictedCap     eviction = "cap"     // the limit on groups
	evictedExpired eviction = "expired" // its time was over
	evictedReload  eviction = "reload"  // its correlation is gone or has another shape
)

// effects are the series of what correlations did beside firing.
type effects struct {
	suppressed, late, truncated prometheus.Counter
	evictions                   *prometheus.CounterVec
	cap, expired, reload        prometheus.Counter
}

func newEffects() effects {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	e := effects{
		suppressed: counter("correlation_suppressed_total", "Correlation results withheld by suppression."),
		late:       counter("correlation_late_events_total", "Matches too old for the window of their group."),
		truncated:  counter("correlation_chain_truncated_total", "Correlation results not propagated because the chain is too long."),
		evictions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "correlation_evictions_total", Help: "Entries of correlation state removed, by reason.",
		}, []string{"reason"}),
	}
	e.cap = e.evictions.WithLabelValues(string(evictedCap))
	e.expired = e.evictions.WithLabelValues(string(evictedExpired))
	e.reload = e.evictions.WithLabelValues(string(evictedReload))
	return e
}

// add counts what an event or a tick did. It mostly did nothing of the kind.
func (e *effects) add(o *correlation.Outcome) {
	if *o == (correlation.Outcome{}) {
		return
	}
	e.suppressed.Add(float64(o.Suppressed))
	e.late.Add(float64(o.Late))
	e.truncated.Add(float64(o.Truncated))
	e.cap.Add(float64(o.Evicted + o.Forgotten))
	e.expired.Add(float64(o.Expired))
}

func (e *effects) collectors() []prometheus.Collector {
	return []prometheus.Collector{e.suppressed, e.late, e.truncated, e.evictions}
}
