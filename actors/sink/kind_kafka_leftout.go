//go:build no_kafka

package sink

var kafkaKind = row{kind: KindKafka, schemes: []string{"kafka"}, leftOutBy: "no_kafka"}
