package jetstream_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
	"github.com/sluicehq/sluice/sources"
	source "github.com/sluicehq/sluice/sources/jetstream"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

func TestMain(m *testing.M) {
	natstest.Child()
	leaktest.Main(m)
}

// bus is a server whose wire is listened to.
type bus struct {
	*natstest.Server
	lines int
	wire  wire
}

// wire is what a source and its server said.
type wire struct {
	mu   sync.Mutex
	read bytes.Buffer // by the source
	sent bytes.Buffer
}

type tapped struct {
	net.Conn
	wire *wire
}

func (c tapped) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	c.wire.read.Write(p[:n])
	return n, err
}

func (c tapped) Write(p []byte) (int, error) {
	c.wire.mu.Lock()
	c.wire.sent.Write(p)
	c.wire.mu.Unlock()
	return c.Conn.Write(p)
}

var (
	delivered    = regexp.MustCompile(`(?m)^H?MSG \S+ \d+ \$JS\.ACK\.[^. ]+\.[^. ]+\.\d+\.(\d+)\.`)
	acknowledged = regexp.MustCompile(`(?m)^PUB \$JS\.ACK\.[^. ]+\.[^. ]+\.\d+\.(\d+)\.\S+ (?:\S+ )?4\r\n\+ACK`)
)

// counts are how often a pattern names each of the sequences 1 to n.
func counts(text []byte, pattern *regexp.Regexp, n int) []int {
	all := make([]int, n)
	for _, m := range pattern.FindAllSubmatch(text, -1) {
		if i, err := strconv.Atoi(string(m[1])); err == nil && i <= n {
			all[i-1]++
		}
	}
	return all
}

func (b *bus) Acks() []int {
	b.wire.mu.Lock()
	defer b.wire.mu.Unlock()
	return counts(b.wire.sent.Bytes(), acknowledged, b.lines)
}

func (b *bus) Deliveries() []int {
	b.wire.mu.Lock()
	defer b.wire.mu.Unlock()
	return counts(b.wire.read.Bytes(), delivered, b.lines)
}

// newMetrics are series that nobody reads.
func newMetrics(tb testing.TB) *natsconn.InputMetrics {
	tb.Helper()
	m, err := natsconn.NewInputMetrics(prometheus.NewRegistry())
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// options are those of a source on a subject of the server.
func options(tb testing.TB, s *natstest.Server, subject string) source.Options {
	tb.Helper()
	return source.Options{
		Dialer: s.Dialer(natsconn.Config{}), Target: s.Target(subject), Name: "sluice input",
		Input: natsconn.DefaultInput(), MaxAckPending: 10_000, Metrics: newMetrics(tb),
	}
}

// newBus returns a server whose stream holds the lines.
func newBus(t *testing.T, m modetest.Mode, ackWait time.Duration, lines []string) *bus {
	t.Helper()
	b := &bus{lines: len(lines)}
	if m.Real() {
		b.Server = natstest.Start(t, nil)
	} else {
		b.Server = natstest.InMemory(t)
	}
	publish(t, b.Server, "EVENTS", "events.>", "events.a", lines...)
	consume(t, b.Server, jetstream.ConsumerConfig{Durable: "sluice-daemon-events", AckPolicy: jetstream.AckExplicitPolicy, FilterSubject: "events.>", AckWait: ackWait})
	return b
}

// publish makes a stream, if there is none, and publishes lines to a subject of it.
func publish(tb testing.TB, s *natstest.Server, stream, subjects, subject string, lines ...string) {
	tb.Helper()
	nc, js := s.Client()
	defer nc.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: stream, Subjects: []string{subjects}}); err != nil {
		tb.Fatal(err)
	}
	for _, l := range lines {
		if _, err := js.Publish(ctx, subject, []byte(l)); err != nil {
			tb.Fatal(err)
		}
	}
}

// consume makes a consumer of the stream EVENTS.
func consume(tb testing.TB, s *natstest.Server, c jetstream.ConsumerConfig) {
	tb.Helper()
	nc, js := s.Client()
	defer nc.Close()
	if _, err := js.CreateOrUpdateConsumer(tb.Context(), "EVENTS", c); err != nil {
		tb.Fatal(err)
	}
}

func (b *bus) Connect(t *testing.T, snapshot bool) sources.Redelivering {
	t.Helper()
	o := options(t, b.Server, "events.>")
	if snapshot {
		o.Input.AckMode = "snapshot"
	}
	o.Dialer.Log = slog.New(slog.DiscardHandler)
	o.Dialer.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := b.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return tapped{c, &b.wire}, nil
	}
	s, err := source.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) {
	natstest.Bubbles(t)
	var last *bus
	sourcetest.Contract(t, sourcetest.Harness{
		New: func(t *testing.T, m modetest.Mode, lines []string) sources.Source {
			t.Helper()
			last = newBus(t, m, time.Minute, lines)
			return last.Connect(t, false)
		},
		Settled: func() []int { return last.Acks() },
	})
}

func TestContractOfRedelivery(t *testing.T) {
	natstest.Bubbles(t)
	const ackWait = 8 * time.Second // a machine that stands still for half of it shows no sign of progress
	sourcetest.Redelivery(t, sourcetest.RedeliveryHarness{
		New: func(t *testing.T, m modetest.Mode, lines []string) sourcetest.Origin {
			t.Helper()
			return newBus(t, m, ackWait, lines)
		},
		AckWait: ackWait,
	})
}
