// Package dial connects to NATS: one way for sinks, inputs and whatever else speaks to a
// server.
//
// A connection is made once and then kept: when it breaks it is made again for
// ever, with pauses that grow, and nothing is buffered meanwhile, so that whoever
// publishes knows what the server has taken.
package dial
