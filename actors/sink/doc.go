// Package sink delivers what the dataflow produced: one actor per destination,
// and one for the dead letter queue.
//
// A sink has its own queue and its own worker, so that a slow destination delays
// no other. Items leave in queue order, each line exactly once as far as the
// destination tells: progress is kept inside the item, and a retry begins at the
// first line that is not confirmed. Every item ends, by being delivered, by
// becoming a dead letter or, without a dead letter queue, by a warning, and its
// share of the token is settled then and not before. Only the end of the drain
// leaves tokens unsettled, so that a source that can deliver again does.
package sink
