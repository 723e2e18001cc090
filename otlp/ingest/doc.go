// Package ingest takes in log records that clients export over OTLP, by HTTP and by
// gRPC.
//
// The protobuf of a request is checked as a whole, and then read straight into JSON: each
// record becomes one flat event, without a tree of its parts. What a request may hold in
// memory is bounded before it is read, and it is held in proportion to what has come. The
// routes turn the outcomes into statuses of their protocols.
package ingest
