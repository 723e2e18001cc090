// Package kafka produces messages to a Kafka topic: each one is a record that is confirmed
// when all replicas in sync have it.
//
// Records have no key. A key would send all that one rule finds to one partition, which a
// noisy rule then fills alone, and nothing that a finding names identifies it for
// compaction. So records are spread over the partitions, and a reader that needs all of
// them in order takes a topic with one partition.
//
// Records are produced once within the life of a process, whatever happens to connections
// and brokers: what was not confirmed in time stays with the client, which numbers it, and
// the next attempt waits for it again. After a restart results may come again; the header
// sluice-id is the same then.
package kafka
