package syslog

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/sources"
)

// Transport is how messages come.
type Transport string

// The transports.
const (
	UDP Transport = "udp"
	TCP Transport = "tcp"
	TLS Transport = "tls"
)

// Transports are all transports.
var Transports = []Transport{UDP, TCP, TLS}

// Name is that of an input of the transport as a label.
func (t Transport) Name() string { return "syslog_" + string(t) }

// faults are the values of the label for faults of framing.
var faults = map[error]string{sources.ErrCount: "count", sources.ErrCut: "cut_off", sources.ErrOutStep: "out_of_step", sources.ErrTLS: "tls"}

// Metrics are the series of all syslog inputs.
type Metrics struct {
	messages   *prometheus.CounterVec
	faults     *prometheus.CounterVec
	handshakes *prometheus.CounterVec
	drops      drops
}

// NewMetrics registers the series, at zero.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		messages: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "syslog_messages_total", Help: "Messages that syslog inputs took from the network, by transport.",
		}, []string{"transport"}),
		faults: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "syslog_framing_errors_total",
			Help: "Faults in the framing of syslog over TCP and TLS, by reason: count (larger than any message), cut_off (the connection ended within a message), out_of_step (a length was not that of its message) or tls (a sender spoke TLS to an input without it).",
		}, []string{"reason"}),
		handshakes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "syslog_tls_handshake_failures_total",
			Help: "TLS handshakes with senders of syslog that failed, by reason: slow, gone (the sender left), certificate (one of either side was refused, or is missing), protocol or other.",
		}, []string{"reason"}),
	}
	for _, t := range Transports {
		m.messages.WithLabelValues(string(t))
	}
	for _, reason := range faults {
		m.faults.WithLabelValues(reason)
	}
	for _, reason := range certs.Reasons {
		m.handshakes.WithLabelValues(reason)
	}
	return m, errors.Join(reg.Register(m.messages), reg.Register(m.faults), reg.Register(m.handshakes),
		reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "syslog_datagrams_dropped_total",
			Help: "Datagrams for syslog inputs that the system dropped, mostly because its buffer was full; 0 where the system does not tell.",
		}, func() float64 { return float64(m.drops.total()) })))
}
