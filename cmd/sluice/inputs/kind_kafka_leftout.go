//go:build no_kafka

package inputs

import "github.com/prometheus/client_golang/prometheus"

var kafkaKind = Kind{Name: "kafka", Schemes: []string{"kafka"}, Usage: "kafka://broker1,broker2/topic", LeftOutBy: "no_kafka"}

type kafkaMetrics struct{}

func newKafkaMetrics(prometheus.Registerer) (*kafkaMetrics, error) { return &kafkaMetrics{}, nil }
