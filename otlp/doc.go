// Package otlp writes the protobuf of OpenTelemetry's log protocol.
//
// Log records are appended to memory of the caller, field by field in the order of
// their numbers, as the library for protocol buffers would write them. A JSON value
// becomes an attribute in one pass, without a tree of its parts, and at a cost that
// grows with its length alone.
package otlp
