package kafka_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/kafka"
	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
	"github.com/sluicehq/sluice/internal/modetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// open returns a sink on topic results of a cluster, closed by the caller.
func open(t *testing.T, c *kafkatest.Cluster, label string) *kafka.Transport {
	t.Helper()
	transport, err := kafka.Open(t.Context(), kafka.Options{
		Dialer: c.Dialer(kafkaconn.Config{}), Target: c.Target("results"), Label: label, Name: "sluice " + label,
	})
	if err != nil {
		t.Fatal(err)
	}
	return transport
}

func TestContract(t *testing.T) {
	var c *kafkatest.Cluster
	var stored []string // when the cluster last told
	sinktest.Contract(t, sinktest.Harness{
		Kind: sink.KindKafka,
		New: func(t *testing.T, m modetest.Mode) (sink.Transport, func() []string) {
			t.Helper()
			if m.Real() {
				c = kafkatest.Start(t, kfake.SeedTopics(1, "results"))
			} else {
				c = kafkatest.InMemory(t, kfake.SeedTopics(1, "results"))
			}
			stored = nil
			return open(t, c, "kafka"), func() []string {
				if c.Now() != nil {
					stored = kafkatest.Bodies(c.Stored("results"))
				}
				return stored
			}
		},
		Break: func(t *testing.T) func() {
			t.Helper()
			c.Down()
			return c.Up
		},
	})
}
