package ruleset

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the series of the rules that serve.
type Metrics struct {
	loaded   [len(kinds)]prometheus.Gauge
	rejected prometheus.Gauge
}

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{rejected: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "rules_rejected", Help: "Rejected documents of the serving rule set.",
	})}
	errs := []error{reg.Register(m.rejected)}
	for i, k := range kinds {
		m.loaded[i] = prometheus.NewGauge(prometheus.GaugeOpts{Name: k.name + "_loaded", Help: k.help})
		errs = append(errs, reg.Register(m.loaded[i]))
	}
	return m, errors.Join(errs...)
}

// Loaded shows how many rules serve from now on, and how many documents were
// rejected.
func (m *Metrics) Loaded(c Counts, rejected int) {
	for i, n := range c {
		m.loaded[i].Set(float64(n))
	}
	m.rejected.Set(float64(rejected))
}
