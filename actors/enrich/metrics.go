package enrich

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
)

// Metrics are the stage's series.
type Metrics struct {
	depth *actors.Depth // of the output queue, which is the stage's lane
}

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{actors.NewDepth(prometheus.GaugeOpts{
		Name: "output_queue_depth", Help: "Result sets waiting between engine and result path.",
	})}
	return m, reg.Register(m.depth)
}
