//go:build !no_kafka

package inputs

import (
	"cmp"
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
	"github.com/sluicehq/sluice/sources/kafka"
)

var kafkaKind = Kind{
	Name: "kafka", Schemes: []string{"kafka"}, Usage: "kafka://broker1,broker2/topic", Parameters: kafka.Parameters,
	Check:   func(s Spec) error { return kafka.Check(s.Target, s.Options) },
	Section: "kafka",
	CheckLogin: func(cfg *config.Daemon, _ Spec, now time.Time, fault func(key string, err error)) {
		dial.Check(cfg.Kafka, now, fault)
	},
	NeedsState: func(s Spec) string {
		if set, err := kafka.ParseSettings(s.Options); err == nil && set.Snapshot {
			return "ack=snapshot"
		}
		return ""
	},
	Open: openKafka,
}

type kafkaMetrics = kafka.Metrics

func newKafkaMetrics(reg prometheus.Registerer) (*kafkaMetrics, error) { return kafka.NewMetrics(reg) }

func openKafka(env Environment, spec Spec) (Opened, error) {
	settings, err := kafka.ParseSettings(spec.Options)
	if err != nil {
		return Opened{}, err
	}
	settings.Group = cmp.Or(settings.Group, env.Config.NATS.ConsumerGroup)
	source, err := kafka.Open(context.Background(), kafka.Options{
		Settings: settings, Target: spec.Target, Dialer: dial.Dialer{Config: env.Config.Kafka, Log: logging.Target(env.Log, "sluice.kafka")}, Metrics: env.Metrics.kafka,
	})
	if err != nil {
		return Opened{}, err
	}
	return Opened{Source: source}, nil
}
