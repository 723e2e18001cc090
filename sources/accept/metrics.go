package accept

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the series of all inputs that accept connections.
type Metrics struct {
	open    *prometheus.GaugeVec
	refused *prometheus.CounterVec
}

// Counters are those of one input.
type Counters struct {
	open    prometheus.Gauge
	refused prometheus.Counter
}

// NewMetrics registers the series of the inputs of these names, at zero.
func NewMetrics(reg prometheus.Registerer, names ...string) (*Metrics, error) {
	m := &Metrics{
		open: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "input_connections", Help: "Connections that may send events, by input; those of HTTP are not among them.",
		}, []string{"input"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "input_connections_refused_total", Help: "Connections closed at once because an input had as many as it may have, by input.",
		}, []string{"input"}),
	}
	for _, name := range names {
		m.Of(name)
	}
	return m, errors.Join(reg.Register(m.open), reg.Register(m.refused))
}

// Of returns the counters of an input.
func (m *Metrics) Of(input string) *Counters {
	return &Counters{m.open.WithLabelValues(input), m.refused.WithLabelValues(input)}
}
