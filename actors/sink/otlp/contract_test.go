package otlp_test

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	otlpsink "github.com/sluicehq/sluice/actors/sink/otlp"
	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/otlp"
	"github.com/sluicehq/sluice/otlp/export"
	"github.com/sluicehq/sluice/otlp/otlptest"
)

// recorded makes log records of the bodies that the suite's form wrote.
type recorded struct{ *otlpsink.Transport }

func (r recorded) Write(ctx context.Context, messages []graph.Message) (int, error) {
	messages = slices.Clone(messages)
	for i := range messages {
		messages[i].Body = otlp.AppendBody(nil, string(messages[i].Body))
	}
	return r.Transport.Write(ctx, messages)
}

func TestContract(t *testing.T) {
	for _, tc := range []struct {
		name string
		http bool
		gzip bool
	}{{"gRPC", false, false}, {"gRPC, zipped", false, true}, {"HTTP", true, false}, {"HTTP, zipped", true, true}} {
		t.Run(tc.name, func(t *testing.T) {
			var network *otlptest.Network
			sinktest.Contract(t, sinktest.Harness{
				Kind: sink.KindOTLP,
				New: func(t *testing.T, m modetest.Mode) (sink.Transport, func() []string) {
					t.Helper()
					network = otlptest.NewNetwork(func() (near, far net.Conn) { return m.Pipe(t) })
					receiver := otlptest.New(t)
					if tc.http {
						receiver.ServeHTTPOn(network)
					} else {
						receiver.ServeGRPCOn(network, nil)
					}
					transport, err := otlpsink.New(export.Options{
						Endpoint: "collector:4317", HTTP: tc.http, Gzip: tc.gzip, Timeout: 10 * time.Second, Now: time.Now, Dial: network.Dial,
					}, "1.0.0", slog.New(slog.DiscardHandler))
					if err != nil {
						t.Fatal(err)
					}
					return recorded{transport}, receiver.Bodies
				},
				Break: func(*testing.T) func() { return network.Cut() },
			})
		})
	}
}
