package reload

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the series of passes and of what is loaded.
type Metrics struct {
	passes, failed                    prometheus.Counter
	detections, correlations, refused prometheus.Gauge
}

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	m := &Metrics{
		passes:       counter("reloads_total", "Reload passes started."),
		failed:       counter("reloads_failed_total", "Reload passes in which at least one component kept its previous version."),
		detections:   gauge("detection_rules_loaded", "Detection rules of the serving rule set."),
		correlations: gauge("correlation_rules_loaded", "Correlation rules of the serving rule set."),
		refused:      gauge("rules_rejected", "Rejected documents of the serving rule set."),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.passes, m.failed, m.detections, m.correlations, m.refused} {
		errs = append(errs, reg.Register(c))
	}
	return m, errors.Join(errs...)
}

// Loaded tells what the serving rule set holds: at the start, and after each
// pass that swapped it.
func (m *Metrics) Loaded(detections, correlations, rejected int) {
	m.detections.Set(float64(detections))
	m.correlations.Set(float64(correlations))
	m.refused.Set(float64(rejected))
}

// Failed counts a failed rebuild outside a pass, as after a changed source.
func (m *Metrics) Failed() { m.failed.Inc() }
