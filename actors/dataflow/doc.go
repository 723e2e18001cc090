// Package dataflow puts the stages together: which there are, in which order, and with
// which lanes between them. Nothing else composes stages, so the daemon and the tests
// run the same graph.
package dataflow
