package webhook

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the series of all webhooks.
type Metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "webhook_requests_total", Help: "Requests of webhooks that an answer ended, and waits for the rate limit, by webhook and outcome.",
		}, []string{"webhook_id", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "webhook_request_duration_seconds", Help: "Time of the requests of webhooks that an answer ended, by webhook.",
			Buckets: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		}, []string{"webhook_id"}),
	}
	return m, errors.Join(reg.Register(m.requests), reg.Register(m.duration))
}

// series are those of one webhook.
type series struct {
	success, permanent, limited prometheus.Counter
	duration                    prometheus.Observer
}

// of makes the series of a webhook, at zero.
func (m *Metrics) of(id string) series {
	return series{
		success:   m.requests.WithLabelValues(id, "success"),
		permanent: m.requests.WithLabelValues(id, "permanent_failure"),
		limited:   m.requests.WithLabelValues(id, "rate_limited_wait"),
		duration:  m.duration.WithLabelValues(id),
	}
}
