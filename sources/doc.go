// Package sources is how events come in: the contract of an input, and the
// framing all text inputs share.
//
// A source reads, cuts what it read into lines and puts the lines, in order and
// in runs, straight into the input queue. It holds no queue of its own, decodes
// nothing and drops nothing because the queue is full: it waits. What a line
// becomes is none of its business; it learns through the line's token that the
// line has ended.
package sources
