package reload

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the series of passes.
type Metrics struct{ passes, failed prometheus.Counter }

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		passes: prometheus.NewCounter(prometheus.CounterOpts{Name: "reloads_total", Help: "Reload passes started."}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "reloads_failed_total", Help: "Reload passes in which at least one component kept its previous version.",
		}),
	}
	return m, errors.Join(reg.Register(m.passes), reg.Register(m.failed))
}
