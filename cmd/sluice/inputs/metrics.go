package inputs

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/internal/natsconn"
)

// Metrics are the series of the inputs that have some: a member for each room.
type Metrics struct {
	NATS *natsconn.InputMetrics
}

// NewMetrics makes the series, at zero.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := new(Metrics)
	var errs [1]error
	m.NATS, errs[0] = natsconn.NewInputMetrics(reg)
	return m, errors.Join(errs[:]...)
}
