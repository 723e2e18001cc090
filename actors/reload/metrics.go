package reload

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the series of passes.
type Metrics struct {
	passes, failed          prometheus.Counter
	successful, successTime prometheus.Gauge
}

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		passes: prometheus.NewCounter(prometheus.CounterOpts{Name: "reloads_total", Help: "Reload passes started."}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "reloads_failed_total", Help: "Reload passes in which at least one component kept its previous version.",
		}),
		successful: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "last_reload_successful", Help: "Whether every component was renewed by the last reload; the load of the start counts as one.",
		}),
		successTime: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "last_reload_success_timestamp_seconds", Help: "When the last reload ended that renewed every component; the load of the start counts as one.",
		}),
	}
	return m, errors.Join(reg.Register(m.passes), reg.Register(m.failed), reg.Register(m.successful), reg.Register(m.successTime))
}

// succeeded shows a reload without a failure that ended at now.
func (m *Metrics) succeeded(now time.Time) {
	m.successful.Set(1)
	m.successTime.Set(float64(now.UnixMicro()) / 1e6)
}

// didFail shows a reload with a failure.
func (m *Metrics) didFail() {
	m.failed.Inc()
	m.successful.Set(0)
}
