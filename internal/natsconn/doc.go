// Package natsconn has what everybody may know of NATS: the settings of connections, and
// how servers and subjects are written. It does without the client library, which package
// dial uses.
//
// The settings hold secrets, which no message, record or error shows.
package natsconn
