package auth

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the series of authentication. A reason has none before its first
// rejection.
type Metrics struct {
	failures *prometheus.CounterVec
}

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{failures: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "api_auth_failures_total",
		Help: "Requests rejected by authentication, by reason: no known token, or a token without the permission.",
	}, []string{"reason"})}
	return m, reg.Register(m.failures)
}

func (m *Metrics) rejected(r Reason) { m.failures.WithLabelValues(string(r)).Inc() }
