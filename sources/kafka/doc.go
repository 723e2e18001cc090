// Package kafka is the input of the messages of a Kafka topic, read by a member of a
// consumer group.
//
// Every message is one line. A partition's offset is committed up to the lowest message
// whose acknowledgement is not due: one that still has something going on, or that waits
// for a save in snapshot mode. What lies behind it is delivered again after a crash. What a
// restored state covers of that is recognised, and not evaluated again.
//
// The members of a group share the partitions. One that loses a partition waits a moment
// for what it has in hand, commits, and never commits it afterwards.
//
// Nothing that happens to the brokers, the topic or the group ends the input: it is logged,
// and tried again.
package kafka
