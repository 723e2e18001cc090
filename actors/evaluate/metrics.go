package evaluate

import (
	"errors"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the stage's series. Its workers count in them.
type Metrics struct {
	pruned, unsourced atomic.Uint64
	fallbacks         *atomic.Uint64
}

// NewMetrics registers the series. fallbacks counts events that are to be counted over
// and have no time of their own.
func NewMetrics(reg prometheus.Registerer, fallbacks *atomic.Uint64) (*Metrics, error) {
	m := &Metrics{fallbacks: fallbacks}
	return m, errors.Join(
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "rules_pruned_by_logsource_total", Help: "Rules not tried because their logsource contradicts the event's.",
		}, func() float64 { return float64(m.pruned.Load()) })),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "events_without_logsource_total", Help: "Evaluations of events without any logsource dimension.",
		}, func() float64 { return float64(m.unsourced.Load()) })),
	)
}
