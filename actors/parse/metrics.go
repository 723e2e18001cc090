package parse

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the stage's series.
type Metrics struct{ batchSize prometheus.Histogram }

func newMetrics() *Metrics {
	return &Metrics{batchSize: prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "batch_size", Help: "Input lines per batch, undecodable ones included.",
		Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
	})}
}

// Register registers the stage's series.
func (s *Stage) Register(reg prometheus.Registerer) error {
	return errors.Join(
		reg.Register(s.metrics.batchSize),
		reg.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "input_queue_depth", Help: "Events waiting between sources and engine, all inputs.",
		}, func() float64 { return float64(s.lane.Stats().Depth) })),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "back_pressure_events_total", Help: "Lines that had to wait for room in the input queue.",
		}, func() float64 { return float64(s.waited.Load()) })),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "events_parse_errors_total", Help: "Input lines that could not be decoded or were too long.",
		}, func() float64 { return float64(s.parseErrors.Load()) })),
	)
}
