package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
	"github.com/sluicehq/sluice/otlp/otlptest"
)

// What a receiver takes: messages to a stream that acknowledges each of them, to one that
// acknowledges batches, as those do that a sink makes, records of Kafka, and OTLP over gRPC and HTTP.
const (
	natsSingly  = "nats"
	natsBatches = "batches"
	kafka       = "kafka"
	otlpGRPC    = "grpc"
	otlpHTTP    = "http"
)

// receive is what a receiver's process does: it takes everything over a protocol until
// standard input ends. It keeps little, in memory, so that it seldom makes anybody wait.
func receive(protocol string) error {
	switch protocol {
	case kafka:
		return kafkatest.Serve("", 0, kfake.SeedTopics(1, "events"))
	case natsSingly, natsBatches:
	default:
		return otlptest.Serve(protocol)
	}
	debug.SetGCPercent(400)
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return natstest.Serve(dir, 0, jetstream.StreamConfig{
		Name: "results", Subjects: []string{"results"}, Storage: jetstream.MemoryStorage,
		MaxBytes: 64 << 20, Duplicates: time.Second, AllowBatchPublish: protocol == natsBatches,
	})
}

// receiver starts a process that receives, so that what it costs is nobody else's, and
// returns its address. What it leaves behind when it is killed is in dir.
func receiver(ctx context.Context, protocol, dir string) (address string, stop func(), err error) {
	c := exec.CommandContext(ctx, os.Args[0], "receive", protocol)
	c.Stderr, c.Env = os.Stderr, append(os.Environ(), "TMPDIR="+dir)
	in, err := c.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, fmt.Errorf("start a receiver: %w", err)
	}
	stop = func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = c.Wait()
	}
	if _, err := fmt.Fscanln(out, &address); err != nil {
		stop()
		return "", nil, fmt.Errorf("the receiver over %s says no address: %w", protocol, err)
	}
	return address, stop, nil
}
