// Package jetstream is the input of messages from NATS JetStream: each message is one
// line, acknowledged when everything that came of it is delivered, or saved.
//
// A durable pull consumer holds the place in the stream. The source asks for at most so
// many messages as it can put into the input queue soon, hands over in runs what has come,
// and leaves the account of the messages to a sources.Ledger. Acknowledgements are
// confirmed by the server, many at a time; one that is not confirmed is left to the server,
// which delivers the message again. Messages in hand are reported to be in progress, so
// that a slow sink makes no work come twice.
//
// Nothing that happens to the server, the stream or the consumer after the start ends the
// source: it tells, waits and looks for them anew.
package jetstream
