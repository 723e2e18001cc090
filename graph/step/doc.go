// Package step is what happens to the lines of a batch on their way from raw text
// to results, as plain values: decode, detect, count over events and render, in this order.
//
// A step has no goroutine, clock, logger or metric. Time is an argument, and what
// happened is returned as an outcome that the caller counts, logs and forwards.
// The stages of the daemon and the one-shot evaluation call the same steps, so
// that they cannot disagree about a line.
//
// A line whose step panics is tried once more and then taken out; the lines
// around it do not notice. An Isolate does that.
package step
