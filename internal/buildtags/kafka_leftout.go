//go:build no_kafka

package buildtags

const kafka = "no_kafka"
