// Package collectortest has the OpenTelemetry Collector's own receiver take what the sink
// sends. It is a module of its own, because the collector needs many others.
package collectortest
