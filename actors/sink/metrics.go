package sink

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors/sink/webhook"
)

// labelDLQ is the name of the dead letter queue's actor and series.
const labelDLQ = "dlq"

// Metrics are the series of all sinks and of the dead letter queue.
type Metrics struct {
	reg         prometheus.Registerer
	retries     *prometheus.CounterVec
	dropped     *prometheus.CounterVec
	failures    *prometheus.CounterVec
	deadLetters prometheus.Counter
	webhooks    *webhook.Metrics
}

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		reg: reg,
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sink_retries_total", Help: "Deliveries tried again after a failure, by sink.",
		}, []string{"sink"}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sink_dropped_total", Help: "Result sets dropped because the queue of a sink with on_full=drop was full.",
		}, []string{"sink"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sink_delivery_failures_total", Help: "Deliveries given up, by sink.",
		}, []string{"sink"}),
		deadLetters: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "dlq_events_total", Help: "Records handed to the dead letter queue.",
		}),
	}
	var err error
	m.webhooks, err = webhook.NewMetrics(reg)
	return m, errors.Join(err, reg.Register(m.retries), reg.Register(m.dropped), reg.Register(m.failures), reg.Register(m.deadLetters))
}

// counter is a series of which a detail shows the value too.
type counter struct {
	total  atomic.Int64
	series func() prometheus.Counter
}

func (c *counter) add() {
	c.total.Add(1)
	if c.series != nil {
		c.series().Inc()
	}
}

// counters are the series of one sink.
type counters struct {
	retries, dropped, failures counter

	written atomic.Int64 // of dead letters
	lost    atomic.Int64 // given up without a dead letter
}

// of makes the series of a sink, at zero from the first scrape. depth is read at
// scrape.
func (m *Metrics) of(label string, depth func() float64) (*counters, error) {
	fixed := func(v *prometheus.CounterVec) func() prometheus.Counter {
		series := v.WithLabelValues(label)
		return func() prometheus.Counter { return series }
	}
	c := &counters{}
	c.retries.series = fixed(m.retries)
	c.dropped.series = fixed(m.dropped)
	c.failures.series = fixed(m.failures)
	return c, m.reg.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sink_queue_depth", Help: "Result sets waiting in the queue of a sink, by sink.",
		ConstLabels: prometheus.Labels{"sink": label},
	}, depth))
}

// ofDLQ makes the one series of the dead letter queue, which appears with the
// first record that could not be written.
func (m *Metrics) ofDLQ() *counters {
	c := &counters{}
	c.failures.series = sync.OnceValue(func() prometheus.Counter { return m.failures.WithLabelValues(labelDLQ) })
	return c
}
