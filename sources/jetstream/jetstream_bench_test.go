package jetstream_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"time"

	natsio "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/dial"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
	source "github.com/sluicehq/sluice/sources/jetstream"
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

// settling is an intake in which every line ends at once.
type settling struct {
	mu   sync.Mutex
	left int
	none chan struct{}
}

func (s *settling) Put(_ context.Context, run []graph.Line) (int, error) {
	epoch := graph.NewEpoch(nil)
	for i := range run {
		run[i].Token.In(epoch).Settle()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left -= len(run); s.left == 0 {
		close(s.none)
	}
	return len(run), nil
}

func (s *settling) Oversize(context.Context, []byte, graph.Token) error { return nil }

// BenchmarkReceive is what receiving and acknowledging a message costs. The server has a
// process of its own, whose time does not count.
func BenchmarkReceive(b *testing.B) {
	p := natstest.StartProcess(b)
	nc, err := natsio.Connect("nats://" + p.Addr)
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		b.Fatal(err)
	}
	const messages = 200_000
	if _, err := js.CreateStream(b.Context(), jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{"events.>"}}); err != nil {
		b.Fatal(err)
	}
	body := []byte(fmt.Sprintf(`{"EventID":4688,"CommandLine":"%s"}`, bytes.Repeat([]byte("x"), 400)))
	for range messages {
		if _, err := js.PublishAsync("events.a", body); err != nil {
			b.Fatal(err)
		}
	}
	<-js.PublishAsyncComplete()
	run := 0
	for b.Loop() {
		run++
		b.StopTimer()
		m := newMetrics(b)
		s, err := source.Open(source.Options{
			Dialer: dial.Dialer{Log: slog.New(slog.DiscardHandler)}, Target: p.Addr + "/events.>", Name: "bench",
			Input: natsconn.Input{AckMode: "delivered", ConsumerGroup: fmt.Sprint("run", run)}, MaxAckPending: 10_000, Metrics: m,
		})
		if err != nil {
			b.Fatal(err)
		}
		in := &settling{left: messages, none: make(chan struct{})}
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		begun := processorTime(b)
		b.StartTimer()
		go func() { ended <- s.Run(ctx, in) }()
		<-in.none
		cancel()
		<-ended
		late, done := context.WithTimeout(context.Background(), 10*time.Second)
		if err := s.Close(late); err != nil {
			b.Fatal(err)
		}
		done()
		took := processorTime(b) - begun
		b.ReportMetric(float64(took.Nanoseconds())/messages, "cpu-ns/message")
	}
}
