package enrich

import "github.com/prometheus/client_golang/prometheus"

// Register registers the series of the output queue, which is the stage's lane.
func (s *Stage) Register(reg prometheus.Registerer) error {
	return reg.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "output_queue_depth", Help: "Result sets waiting between engine and result path.",
	}, func() float64 { return float64(s.lane.Stats().Depth) }))
}
