// Package parse is the first stage: it makes batches of what the inputs put into
// its lane, stamps each with the newest rule set, and has its lines decoded.
//
// A batch is what is queued when the stage comes to it, up to the batch size, and
// never waits for more. Batches are decoded in parallel and leave in order. No
// line is dropped: one that cannot be decoded travels on in its batch, so that
// its dead letter keeps its place.
package parse
