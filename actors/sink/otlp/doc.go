// Package otlp exports results as log records to a receiver of OTLP, such as the
// OpenTelemetry Collector.
//
// A result is one record: its level is the severity, its rule's title the body, and every
// member of its native line an attribute. A batch of results is one request. A receiver
// that is away delays deliveries and nothing else: the sink connects when it first sends.
package otlp
