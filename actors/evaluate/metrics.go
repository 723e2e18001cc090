package evaluate

import (
	"errors"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the stage's series. Its workers count in them.
type Metrics struct {
	pruned, unsourced, fallbacks atomic.Uint64
}

// NewMetrics registers the series. timed is that of the stage's Options.
func NewMetrics(reg prometheus.Registerer, timed bool) (*Metrics, error) {
	m := &Metrics{}
	mode := "wallclock"
	if timed {
		mode = "skip"
	}
	return m, errors.Join(
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "rules_pruned_by_logsource_total", Help: "Rules not tried because their logsource contradicts the event's.",
		}, func() float64 { return float64(m.pruned.Load()) })),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "events_without_logsource_total", Help: "Evaluations of events without any logsource dimension.",
		}, func() float64 { return float64(m.unsourced.Load()) })),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "correlation_timestamp_fallback_total", Help: "Matches for correlations of events without a usable time, by what is done with them.",
			ConstLabels: prometheus.Labels{"mode": mode},
		}, func() float64 { return float64(m.fallbacks.Load()) })),
	)
}
