package main

import (
	"context"
	"net"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// unixFeeder writes to a socket.
type unixFeeder string

func openUnixFeeder(_ context.Context, path string) (feeder, error) { return unixFeeder(path), nil }

func (f unixFeeder) feed(ctx context.Context, messages [][]byte) error {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", string(f))
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, m := range messages {
		if _, err := conn.Write(m); err != nil {
			return err
		}
	}
	return nil
}

func (f unixFeeder) forget(context.Context) error { return nil }
func (f unixFeeder) close()                       {}

// natsFeeder publishes to a stream, which forgets what is acknowledged.
type natsFeeder struct {
	conn *nats.Conn
	js   jetstream.JetStream
}

func openNATSFeeder(ctx context.Context, address string) (feeder, error) {
	conn, err := nats.Connect("nats://" + address)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err == nil {
		_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{"events"}, Retention: jetstream.WorkQueuePolicy})
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &natsFeeder{conn, js}, nil
}

func (f *natsFeeder) feed(ctx context.Context, messages [][]byte) error {
	for _, m := range messages {
		if _, err := f.js.PublishAsync("events", m, jetstream.WithStallWait(time.Minute)); err != nil {
			return err
		}
	}
	select {
	case <-f.js.PublishAsyncComplete():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *natsFeeder) forget(context.Context) error { return nil }
func (f *natsFeeder) close()                       { f.conn.Close() }

// kafkaFeeder appends to the one partition of a topic, as it is: what is not compressed in a
// request is not in a message.
type kafkaFeeder struct{ client *kgo.Client }

func openKafkaFeeder(_ context.Context, address string) (feeder, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DefaultProduceTopic("events"), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		return nil, err
	}
	return &kafkaFeeder{client}, nil
}

func (f *kafkaFeeder) feed(ctx context.Context, messages [][]byte) error {
	records := make([]*kgo.Record, len(messages))
	for i, m := range messages {
		records[i] = kgo.SliceRecord(m)
	}
	return f.client.ProduceSync(ctx, records...).FirstErr()
}

func (f *kafkaFeeder) forget(ctx context.Context) error {
	of := kmsg.NewDeleteRecordsRequestTopic()
	of.Topic = "events"
	all := kmsg.NewDeleteRecordsRequestTopicPartition()
	all.Offset = -1 // up to the end
	of.Partitions = append(of.Partitions, all)
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.Topics = append(req.Topics, of)
	resp, err := req.RequestWith(ctx, f.client)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *kafkaFeeder) close() { f.client.Close() }
