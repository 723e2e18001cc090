package ruleset

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/sigma/load"
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

// Loaded shows the rules that serve from now on.
func (m *Metrics) Loaded(c *load.Collection) {
	m.detections.Set(float64(len(c.Rules)))
	m.correlations.Set(float64(len(c.Correlations)))
	m.rejected.Set(float64(len(c.Rejected)))
}
