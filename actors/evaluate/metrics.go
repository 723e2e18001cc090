package evaluate

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Register registers the stage's series.
func (s *Stage) Register(reg prometheus.Registerer) error {
	return errors.Join(
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "rules_pruned_by_logsource_total", Help: "Rules not tried because their logsource contradicts the event's.",
		}, func() float64 { return float64(s.pruned.Load()) })),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "events_without_logsource_total", Help: "Evaluations of events without any logsource dimension.",
		}, func() float64 { return float64(s.unsourced.Load()) })),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "correlation_timestamp_fallback_total", Help: "Matches for correlations of events without a usable time, by what is done with them.",
			ConstLabels: prometheus.Labels{"mode": s.fallback()},
		}, func() float64 { return float64(s.fallbacks.Load()) })),
	)
}

// fallback names what is done with events without a usable time.
func (s *Stage) fallback() string {
	if s.timed {
		return "skip"
	}
	return "wallclock"
}
