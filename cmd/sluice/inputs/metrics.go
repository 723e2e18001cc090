package inputs

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/sources/accept"
	"github.com/sluicehq/sluice/sources/syslog"
	"github.com/sluicehq/sluice/sources/unix"
)

// Metrics are the series of the inputs that have some: a member for each room.
type Metrics struct {
	connections *accept.Metrics
	syslog      *syslog.Metrics
}

// NewMetrics makes the series, at zero.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	connections, connectionsErr := accept.NewMetrics(reg, unix.Name, syslog.TCP.Name(), syslog.TLS.Name())
	messages, messagesErr := syslog.NewMetrics(reg)
	return &Metrics{connections: connections, syslog: messages}, errors.Join(connectionsErr, messagesErr)
}
