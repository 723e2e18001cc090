package natstest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/internal/childtest"
)

// child is the name of a server in a process of its own.
const child = "nats"

// Child makes the process a server if StartProcess has started it as one, and does
// not return then. It is the first call of TestMain.
func Child() {
	childtest.Be(child, func(port int, dir string) error { return Serve(dir, port) })
}

// Serve runs a server with JetStream and the given streams until standard input ends, and
// prints its address. Port 0 is one that is free.
func Serve(dir string, port int, streams ...jetstream.StreamConfig) error {
	if port == 0 {
		port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true, AuthTimeout: wait.Seconds()})
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(wait) {
		return fmt.Errorf("the server does not start on port %d", port)
	}
	if err := create(s, streams); err != nil {
		return err
	}
	childtest.Hold(strings.TrimPrefix(s.ClientURL(), "nats://"))
	s.Shutdown()
	return nil
}

func create(s *server.Server, streams []jetstream.StreamConfig) error {
	nc, err := nats.Connect(s.ClientURL(), Patient)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	for _, stream := range streams {
		if _, err := js.CreateStream(ctx, stream); err != nil {
			return err
		}
	}
	return nil
}

// StartProcess starts a server with JetStream in a process of its own. Its streams outlive
// a kill.
func StartProcess(tb testing.TB) *childtest.Process {
	tb.Helper()
	return childtest.Start(tb, child, tb.TempDir())
}
