package kafka

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the series of all sources of a process.
type Metrics struct {
	lag        *prometheus.GaugeVec
	pending    prometheus.Gauge
	commits    [2]prometheus.Counter // that failed, and that did not
	covered    prometheus.Counter
	rebalances prometheus.Counter

	disconnected prometheus.Gauge
	disconnects  prometheus.Counter
}

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	commits := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kafka_commits_total", Help: "Commits of offsets to Kafka, by result.",
	}, []string{"result"})
	m := &Metrics{
		lag: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kafka_lag", Help: "Messages of a partition that lie behind its committed offset, of partitions that are assigned to this process.",
		}, []string{"topic", "partition"}),
		pending: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "kafka_pending_messages", Help: "Messages that were read from Kafka and are not committed.",
		}),
		covered: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kafka_covered_redeliveries_total", Help: "Messages delivered again by Kafka that the restored state covers: they were committed and not evaluated again.",
		}),
		rebalances: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kafka_rebalances_total", Help: "Assignments of partitions by a consumer group, also those that changed nothing.",
		}),
		disconnected: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "kafka_disconnected_inputs", Help: "Kafka inputs that no broker is connected with: they read nothing.",
		}),
		disconnects: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kafka_disconnects_total", Help: "Times that a Kafka input lost its last connection with a broker.",
		}),
	}
	for i, result := range []string{"failed", "committed"} {
		m.commits[i] = commits.WithLabelValues(result)
	}
	for _, c := range []prometheus.Collector{m.lag, m.pending, commits, m.covered, m.rebalances, m.disconnected, m.disconnects} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Metrics) committed(err error) {
	if err != nil {
		m.commits[0].Inc()
		return
	}
	m.commits[1].Inc()
}

func (m *Metrics) drop(topic string, partition int32) {
	m.lag.DeleteLabelValues(topic, strconv.Itoa(int(partition)))
}
