package ingest

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// transport is how a request came.
type transport string

const (
	overHTTP transport = "http"
	overGRPC transport = "grpc"
)

// Values of the label encoding.
const (
	encodingJSON     = "json"
	encodingProtobuf = "protobuf"
)

// reason is why a request was refused.
type reason string

const (
	reasonType          reason = "unsupported_content_type"
	reasonDecompression reason = "decompression"
	reasonDecode        reason = "decode"
	reasonClosed        reason = "channel_closed"
)

// Metrics are the series of requests. Those with labels appear when they first count.
type Metrics struct {
	requests *prometheus.CounterVec
	records  prometheus.Counter
	errors   *prometheus.CounterVec
}

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "otlp_requests_total", Help: "Export requests over OTLP that could be decoded.",
		}, []string{"transport", "encoding"}),
		records: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "otlp_log_records_total", Help: "Log records received over OTLP.",
		}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "otlp_errors_total", Help: "Export requests over OTLP that were refused, by reason.",
		}, []string{"transport", "reason"}),
	}
	return m, errors.Join(reg.Register(m.requests), reg.Register(m.records), reg.Register(m.errors))
}

func (m *Metrics) took(t transport, encoding string, records int) {
	m.requests.WithLabelValues(string(t), encoding).Inc()
	m.records.Add(float64(records))
}

func (m *Metrics) refused(t transport, r reason) {
	m.errors.WithLabelValues(string(t), string(r)).Inc()
}
