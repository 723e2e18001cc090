package nats_test

import (
	"testing"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/nats"
	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

func TestMain(m *testing.M) {
	natstest.Child()
	leaktest.Main(m)
}

// open returns a sink on subject results of a server, closed by the caller.
func open(t *testing.T, s *natstest.Server, c natsconn.Config) *nats.Transport {
	t.Helper()
	transport, err := nats.Open(nats.Options{Dialer: s.Dialer(c), Target: s.Target("results"), Label: "nats", Name: "sluice nats"})
	if err != nil {
		t.Fatal(err)
	}
	return transport
}

func TestContract(t *testing.T) {
	t.Run("in batches", func(t *testing.T) { contract(t, inBatches) })
	t.Run("one by one", func(t *testing.T) { contract(t, singly) })
}

func contract(t *testing.T, prepare func(*testing.T, *natstest.Server)) {
	t.Helper()
	natstest.Bubbles(t)
	var server *natstest.Server
	var stored []string // when the server last told
	sinktest.Contract(t, sinktest.Harness{
		Kind: sink.KindNATS,
		New: func(t *testing.T, m modetest.Mode) (sink.Transport, func() []string) {
			t.Helper()
			if m.Real() {
				server = natstest.Start(t, nil)
			} else {
				server = natstest.InMemory(t)
			}
			stored = nil
			prepare(t, server)
			return open(t, server, natsconn.Config{}), func() []string {
				if server.Server() != nil {
					stored = natstest.Bodies(server.Stored("sluice-results"))
				}
				return stored
			}
		},
		Break: func(t *testing.T) func() {
			t.Helper()
			server.Down()
			return server.Up
		},
	})
}
