package ruleset

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the series of the rules that serve.
type Metrics struct{ detections, correlations, rejected prometheus.Gauge }

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	m := &Metrics{
		detections:   gauge("detection_rules_loaded", "Detection rules of the serving rule set."),
		correlations: gauge("correlation_rules_loaded", "Correlation rules of the serving rule set."),
		rejected:     gauge("rules_rejected", "Rejected documents of the serving rule set."),
	}
	return m, errors.Join(reg.Register(m.detections), reg.Register(m.correlations), reg.Register(m.rejected))
}

// Loaded shows how many rules serve from now on, and how many documents were
// rejected.
func (m *Metrics) Loaded(detections, correlations, rejected int) {
	m.detections.Set(float64(detections))
	m.correlations.Set(float64(correlations))
	m.rejected.Set(float64(rejected))
}
