// Package collectortest has the OpenTelemetry Collector's own receiver take what the sink
// sends, and its exporters send to us, with the configurations of examples/clients, too. It
// is a module of its own, because the collector needs many others.
package collectortest
