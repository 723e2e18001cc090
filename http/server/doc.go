// Package server owns the one listener of the daemon: its address, its limits
// and its end.
//
// The address is bound before rules load, so that probes are answered from the
// first moment; what is answered is the business of the handler it serves.
// Nothing a client does holds a connection for ever: headers, idle time and the
// rest of a body nobody wants are bounded, and over HTTP/2 every frame that has
// begun. HTTP/1.1 and HTTP/2 with prior knowledge share the port, and gRPC calls
// leave for a handler of their own.
//
// With certificates the server speaks TLS and nothing else. It stands below all that is
// said above: requests are read, bounded and answered alike with and without. Handshakes
// are made one per connection, in time of their own, and each uses the certificates that
// are current when its connection is accepted.
package server
