package nats_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/file"
	"github.com/sluicehq/sluice/actors/sink/nats"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/natsconn/dial"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkDelivery compares transports by results for each second of a processor. The
// server has a process of its own, whose time does not count.
func BenchmarkDelivery(b *testing.B) {
	p := natstest.StartProcess(b)
	for _, size := range []int{64, 512} {
		body := []byte(fmt.Sprintf(`{"rule_title":"Evil","event":"%s"}`, bytes.Repeat([]byte("x"), 500)))
		batch := make([]graph.Message, size)
		for _, kind := range []struct {
			name string
			open func(b *testing.B) (sink.Transport, error)
		}{
			{"file", func(b *testing.B) (sink.Transport, error) {
				b.Helper()
				return file.Open(filepath.Join(b.TempDir(), "out"), time.Now)
			}},
			{"nats", func(b *testing.B) (sink.Transport, error) {
				b.Helper()
				return nats.Open(nats.Options{Dialer: dial.Dialer{Log: slog.New(slog.DiscardHandler)}, Target: p.Addr + "/results", Label: "nats", Name: "bench"})
			}},
		} {
			b.Run(fmt.Sprintf("%s/batch=%d", kind.name, size), func(b *testing.B) {
				transport, err := kind.open(b)
				if err != nil {
					b.Fatal(err)
				}
				defer transport.Close()
				var ids graph.DeliveryIDs
				envelopes := make([]graph.Envelope, size)
				for i := range batch {
					batch[i] = graph.Message{Envelope: &envelopes[i], Body: body}
				}
				b.ReportAllocs()
				begun, results := processorTime(b), 0
				for b.Loop() {
					for i := range envelopes {
						envelopes[i].ID = ids.Next()
					}
					n, err := transport.Write(b.Context(), batch)
					if err != nil {
						b.Fatal(err)
					}
					results += n
				}
				took := processorTime(b) - begun
				b.ReportMetric(float64(results)/took.Seconds(), "results/cpu-s")
				b.ReportMetric(float64(took.Nanoseconds())/float64(results), "cpu-ns/result")
			})
		}
	}
}
