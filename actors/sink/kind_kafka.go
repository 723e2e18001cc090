//go:build !no_kafka

package sink

import (
	"context"
	"time"

	"github.com/sluicehq/sluice/actors/sink/kafka"
	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
)

var kafkaKind = row{
	kind: KindKafka, schemes: []string{"kafka"}, usage: "kafka://broker1,broker2/topic", unit: true,
	check: func(s Spec) error { return kafka.Check(s.Target) },
	login: func(c Logins, now time.Time, fault func(key string, err error)) { dial.Check(c.Kafka, now, fault) },
	open: func(s Spec, e Environment) (Transport, error) {
		return kafka.Open(context.Background(), kafka.Options{Dialer: dial.Dialer{Config: e.Kafka.Config, Log: e.Kafka.Log}, Target: s.Target, Label: e.Label, Name: "sluice " + e.Label})
	},
}
