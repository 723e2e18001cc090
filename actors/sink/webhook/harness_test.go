package webhook_test

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/graph/step/steptest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func write(tb testing.TB, name, text string) {
	tb.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// arrival is a request as a receiver saw it.
type arrival struct {
	at     time.Time
	proto  string
	method string
	uri    string
	host   string
	header http.Header
	body   string
}

// receiver is a server of the test's own.
type receiver struct {
	mu       sync.Mutex // guards the rest
	arrivals []arrival
	answer   func(n int, w http.ResponseWriter, r *http.Request) // of request n, from 0
}

// ServeHTTP implements http.Handler.
func (s *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	n, answer := len(s.arrivals), s.answer
	s.arrivals = append(s.arrivals, arrival{at, r.Proto, r.Method, r.RequestURI, r.Host, r.Header.Clone(), string(body)})
	s.mu.Unlock()
	if answer != nil {
		answer(n, w, r)
	}
}

func (s *receiver) all() []arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]arrival(nil), s.arrivals...)
}

func (s *receiver) bodies() (all []string) {
	for _, a := range s.all() {
		all = append(all, a.body)
	}
	return all
}

// answers is a receiver that answers with a status after the other; the last one stays.
func answers(codes ...int) *receiver {
	return &receiver{answer: func(n int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(codes[min(n, len(codes)-1)])
	}}
}

// pipes is a listener whose connections are in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// bench is a webhook behind its sink's actor, with a dead letter queue that keeps its
// records.
type bench struct {
	t       *testing.T
	system  *actors.System
	sink    *sink.Sink
	render  *step.Render
	ids     graph.DeliveryIDs
	letters *sinktest.Recorder
	reg     *prometheus.Registry
	settled int
	mu      sync.Mutex // guards settled
}

// newBench starts the webhook of a file that posts through a client.
func newBench(t *testing.T, w *webhook.Webhook, client func(*tls.Config) *http.Client, scale func() float64) *bench {
	t.Helper()
	b := &bench{t: t, letters: &sinktest.Recorder{}, reg: prometheus.NewRegistry(), render: step.NewRender([]graph.Form{w.Form()})}
	b.system = actors.NewSystem(actors.Options{MaxRestarts: 10})
	metrics, err := sink.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	own, err := webhook.NewMetrics(b.reg)
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	dlq := sink.NewDLQ(sink.DLQOptions{
		Kind: sink.KindStdout, Transport: b.letters, Retry: sink.DefaultRetry(), BatchMax: 64, Capacity: 100, Metrics: metrics, Log: logger,
	})
	clients := &webhook.Clients{New: client}
	b.sink, err = sink.New(sink.Options{
		Label: w.ID, Kind: sink.KindWebhook, OnFull: sink.Drop, Form: w.Form(), Transport: clients.Open(w, own, logger),
		Retry:    sink.Retry{Max: w.Attempts - 1, Base: w.Backoff, Cap: w.MaxBackoff, Scale: scale},
		BatchMax: 1, Capacity: w.QueueSize, DeadLetters: dlq.Lane(), Metrics: metrics, Log: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.system.Spawn(dlq.Cell(), dlq.Produce); err != nil {
		t.Fatal(err)
	}
	if _, err := b.system.Spawn(b.sink.Cell(), b.sink.Produce); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) close() {
	if err := b.system.Stop(context.Background()); err != nil {
		b.t.Error(err)
	}
	if err := b.sink.Close(); err != nil {
		b.t.Error(err)
	}
}

// put offers results as one set, as dispatch does, and reports whether the webhook takes
// any of them.
func (b *bench) put(results ...*graph.Result) bool {
	b.t.Helper()
	receipt := graph.NewReceipt(1, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.settled++
	})
	set := &graph.ResultSet{Token: receipt.Token(0)}
	for _, r := range results {
		set.Results = append(set.Results, *r)
	}
	bundles := steptest.Bundles(b.render, set, b.ids.Next(), time.Now())
	if bundles[0] == nil {
		return false
	}
	if _, err := b.sink.Lane().Put(b.t.Context(), bundles); err != nil {
		b.t.Fatal(err)
	}
	return true
}

func (b *bench) ended() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.settled
}

func (b *bench) detail() sink.Detail {
	d, _ := b.system.Detail(b.t.Context(), b.sink.Cell().Name()).(sink.Detail)
	return d
}

// outcomes are the requests by outcome, and how many durations were observed.
func (b *bench) outcomes() (success, permanent, limited, observed int) {
	families, err := b.reg.Gather()
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if h := m.GetHistogram(); h != nil {
				observed += int(h.GetSampleCount())
				continue
			}
			n := int(m.GetCounter().GetValue())
			switch m.GetLabel()[0].GetValue() + m.GetLabel()[1].GetValue() {
			case "wsuccess", "successw":
				success += n
			case "wpermanent_failure", "permanent_failurew":
				permanent += n
			case "wrate_limited_wait", "rate_limited_waitw":
				limited += n
			}
		}
	}
	return success, permanent, limited, observed
}

// letter is the only dead letter.
func (b *bench) letter() string {
	b.t.Helper()
	lines := b.letters.Lines()
	if len(lines) != 1 {
		b.t.Errorf("%d dead letters, want one: %s", len(lines), strings.Join(lines, "\n"))
		return ""
	}
	return lines[0]
}

// contextOf ends after d.
func contextOf(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(context.Background(), d)
}

// quiet is the log of a server whose handshakes fail as they should.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
