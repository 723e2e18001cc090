// Package syslog is the input of messages that devices and syslog servers send over the
// network: as datagrams of UDP, over TCP, and over TLS.
//
// A datagram is one message. In a stream, each message either begins with its length or
// ends with a line feed; sources.OctetReader tells them apart. What a message says is not
// looked at here: the format of the input decides that.
//
// Nothing in these protocols acknowledges a message. When the queue is full, TCP and TLS
// have their senders wait. UDP cannot: the system drops datagrams that find its buffer
// full, and counts them.
package syslog
