package inputs

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/sources/accept"
	"github.com/sluicehq/sluice/sources/syslog"
	"github.com/sluicehq/sluice/sources/unix"
)

// Metrics are the series of the inputs that have some: a member for each room.
type Metrics struct {
	nats        *natsconn.InputMetrics
	connections *accept.Metrics
	syslog      *syslog.Metrics
	kafka       *kafkaMetrics
}

// NewMetrics makes the series, at zero.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := new(Metrics)
	var errs [4]error
	m.nats, errs[0] = natsconn.NewInputMetrics(reg)
	m.connections, errs[1] = accept.NewMetrics(reg, unix.Name, syslog.TCP.Name(), syslog.TLS.Name())
	m.syslog, errs[2] = syslog.NewMetrics(reg)
	m.kafka, errs[3] = newKafkaMetrics(reg)
	return m, errors.Join(errs[:]...)
}
