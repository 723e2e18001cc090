package parse

import (
	"errors"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
)

// Metrics are the stage's series. Intakes and the actor count in them.
type Metrics struct {
	batchSize   prometheus.Histogram
	depth       *actors.Depth
	waited      atomic.Int64 // lines that had to wait for room
	parseErrors atomic.Int64
	suspects    atomic.Int64 // lines that begin like JSON and were taken as text

	filterErrors, filterCuts atomic.Int64 // lines that the event filter has filtered in part only
	filterEmpty              atomic.Int64 // lines of which it left no event
}

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		batchSize: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "batch_size", Help: "Input lines per batch, undecodable ones included.",
			Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
		}),
		depth: actors.NewDepth(prometheus.GaugeOpts{
			Name: "input_queue_depth", Help: "Events waiting between sources and engine, all inputs.",
		}),
	}
	return m, errors.Join(
		reg.Register(m.batchSize),
		reg.Register(m.depth),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "back_pressure_events_total", Help: "Lines that had to wait for room in the input queue.",
		}, func() float64 { return float64(m.waited.Load()) })),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "events_parse_errors_total", Help: "Input lines that could not be decoded or were too long.",
		}, func() float64 { return float64(m.parseErrors.Load()) })),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "json_suspects_total", Help: "Input lines that begin like JSON and were taken as plain text.",
		}, func() float64 { return float64(m.suspects.Load()) })),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "event_filter_errors_total", Help: "Input lines on which the event filter failed.",
		}, func() float64 { return float64(m.filterErrors.Load()) })),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "event_filter_cut_total", Help: "Input lines whose event filter went beyond its bounds and was ended.",
		}, func() float64 { return float64(m.filterCuts.Load()) })),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "event_filter_empty_total", Help: "Input lines of which the event filter left no event.",
		}, func() float64 { return float64(m.filterEmpty.Load()) })),
	)
}
