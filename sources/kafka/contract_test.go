package kafka

import (
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// cluster starts a cluster with a topic of so many partitions.
func cluster(t *testing.T, m modetest.Mode, partitions int32, options ...kfake.Opt) *kafkatest.Cluster {
	t.Helper()
	options = append(options, kfake.SeedTopics(partitions, "events"))
	if m.Real() {
		return kafkatest.Start(t, options...)
	}
	return kafkatest.InMemory(t, options...)
}

// open opens a source of the topic events.
func open(t *testing.T, c *kafkatest.Cluster, change func(o *Options)) *Source {
	t.Helper()
	metrics, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Dialer: c.Dialer(kafkaconn.Config{}), Target: c.Target("events"), Metrics: metrics}
	if change != nil {
		change(&o)
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) {
	var c *kafkatest.Cluster
	sourcetest.Contract(t, sourcetest.Harness{
		New: func(t *testing.T, m modetest.Mode, lines []string) sources.Source {
			t.Helper()
			c = cluster(t, m, 1)
			c.Produce("events", 0, kafkatest.Lines(lines...)...)
			return open(t, c, nil)
		},
		Settled: func() []int { return committed(c, 300) },
	})
}

// committed tells of each message of the one partition whether it lies before the
// offset that is committed.
func committed(c *kafkatest.Cluster, messages int) []int {
	all, at := make([]int, messages), c.Committed("sluice-events", "events", 0)
	for i := range min(int(max(at, 0)), messages) {
		all[i] = 1
	}
	return all
}

// origin is a topic with one partition.
type origin struct {
	c *kafkatest.Cluster
	n int

	mu     sync.Mutex // guards counts
	counts []int
}

// OnFetchRecordBuffered counts what the brokers deliver.
func (o *origin) OnFetchRecordBuffered(r *kgo.Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts[r.Offset]++
}

func (o *origin) Connect(t *testing.T, snapshot bool) sources.Redelivering {
	t.Helper()
	return open(t, o.c, func(options *Options) { options.Snapshot, options.hook = snapshot, o })
}

func (o *origin) Acks() []int { return committed(o.c, o.n) }

func (o *origin) Deliveries() []int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]int(nil), o.counts...)
}

func TestRedelivery(t *testing.T) {
	sourcetest.Redelivery(t, sourcetest.RedeliveryHarness{
		New: func(t *testing.T, m modetest.Mode, lines []string) sourcetest.Origin {
			t.Helper()
			o := &origin{c: cluster(t, m, 1), n: len(lines), counts: make([]int, len(lines))}
			o.c.Produce("events", 0, kafkatest.Lines(lines...)...)
			return o
		},
		Ordered: true,
		AckWait: 100 * time.Millisecond,
	})
}
