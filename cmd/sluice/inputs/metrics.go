package inputs

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the series of the inputs that have some: a member for each room.
type Metrics struct {
	kafka *kafkaMetrics
}

// NewMetrics makes the series, at zero.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	var m Metrics
	var errs [1]error
	m.kafka, errs[0] = newKafkaMetrics(reg)
	return &m, errors.Join(errs[:]...)
}
