// Package kafkaconn has what everybody may know of Kafka: the settings of connections, and
// how brokers and topics are written. It does without the client library, which package
// dial uses.
//
// The settings hold secrets, which no message, record or error shows.
package kafkaconn
