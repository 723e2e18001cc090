package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/sluicehq/sluice/internal/natsconn/natstest"
	"github.com/sluicehq/sluice/otlp/otlptest"
)

// receive is what a receiver's process does: it takes everything over "nats", "grpc" or
// "http" until standard input ends.
func receive(protocol string) error {
	if protocol != "nats" {
		return otlptest.Serve(protocol)
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return natstest.Serve(dir, -1)
}

// receiver starts a process that receives, so that what it costs is nobody else's, and
// returns its address.
func receiver(ctx context.Context, protocol string) (address string, stop func(), err error) {
	c := exec.CommandContext(ctx, os.Args[0], "receive", protocol)
	c.Stderr = os.Stderr
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
