// Package client asks a running daemon, over TCP with or without TLS or over a unix
// socket, and says what to do when that does not work.
//
// The token goes to the one address that was named: redirects are not followed. It never
// appears in an error. What a daemon answers may come from anybody who holds the port, so
// errors quote it without what would steer a terminal, and not at any length.
package client
