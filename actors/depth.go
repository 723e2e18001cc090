package actors

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors/mailbox"
)

// Depth is a gauge of how much waits in the data lane of an actor. It is made and
// registered before the actor, and 0 until then.
type Depth struct {
	prometheus.GaugeFunc
	cell atomic.Pointer[mailbox.Cell]
}

// NewDepth returns the gauge.
func NewDepth(o prometheus.GaugeOpts) *Depth {
	d := &Depth{}
	d.GaugeFunc = prometheus.NewGaugeFunc(o, func() float64 {
		if c := d.cell.Load(); c != nil {
			return float64(c.Stats().Lane.Depth)
		}
		return 0
	})
	return d
}

// Of makes c the actor of the gauge.
func (d *Depth) Of(c *mailbox.Cell) { d.cell.Store(c) }
