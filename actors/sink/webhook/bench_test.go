package webhook_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/textproto"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
)

// swift is a server that costs next to nothing: it looks for the ends of requests and
// answers.
func swift(tb testing.TB) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serveSwiftly(conn)
		}
	}()
	return "http://" + listener.Addr().String()
}

func serveSwiftly(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	length := []byte("Content-Length: ")
	for {
		body := 0
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				return
			}
			if line = textproto.TrimBytes(line); len(line) == 0 {
				break
			}
			if rest, ok := bytes.CutPrefix(line, length); ok {
				body, _ = strconv.Atoi(string(rest))
			}
		}
		if _, err := r.Discard(body); err != nil {
			return
		}
		if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"); err != nil {
			return
		}
	}
}

// benched are a transport to a swift server, and a result.
func benched(tb testing.TB, settings string) (*webhook.Webhook, *webhook.Transport, *graph.Result) {
	tb.Helper()
	w := load(tb, "webhooks:\n  - id: w\n    kind: detection\n    url: "+swift(tb)+settings, map[string]string{"PART": "T000/B000", "KEY": "k"})[0]
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		tb.Fatal(err)
	}
	clients := &webhook.Clients{New: func(c *tls.Config) *http.Client { return egressClient(egress.Options{})(c) }}
	transport := clients.Open(w, metrics, slog.New(slog.DiscardHandler))
	tb.Cleanup(func() { _ = transport.Close() })
	r := detection(ast.Meta{Title: `Odd "login" of an administrator`, ID: "5b0f3c0a-8f0e-4c5e-9a55-0d6a3c7c1b02", Level: ast.LevelHigh, Tags: []string{"attack.t1110"}},
		`{"User":"bob","Computer":"host-1","SourceIP":"203.0.113.4"}`, "User", "bob", "Computer", "host-1")
	return w, transport, r
}

// templated are the settings of a webhook to a chat.
const templated = `/services/${PART}
    headers: {X-Rule: '${detection.rule.id}'}
    body: '{"text": "*${detection.rule.title}* on ${detection.fields.Computer} [${detection.rule.level}]", "event": ${detection.event}, "tags": ${detection.tags}}'
`

// A result is rendered and delivered. On one core the bar is 5,000 a second.
func BenchmarkDelivery(b *testing.B) {
	for name, settings := range map[string]string{"templates": templated, "signed": templated + "    signing: {secret_env: KEY}\n", "fixed address": "/\n    body: '{\"text\":\"${detection.rule.title}\"}'\n"} {
		b.Run(name, func(b *testing.B) {
			w, transport, r := benched(b, settings)
			b.ReportAllocs()
			rate := sigmatest.Measure(1, b.N, func() {
				buffer := make([]byte, 0, 4096)
				messages := make([]graph.Message, 1)
				for i := range b.N {
					messages[0] = graph.Message{Envelope: &graph.Envelope{Time: time.Unix(1773100800, 0)}, Index: i}
					body, err := w.Form().Append(buffer, graph.Payload{Result: r}, &messages[0])
					messages[0].Body = body
					if _, writeErr := transport.Write(b.Context(), messages); err != nil || writeErr != nil {
						b.Fatal(err, writeErr)
					}
				}
			})
			b.ReportMetric(rate.Clock, "deliveries/s")
			b.ReportMetric(1e9/rate.Cost, "deliveries/processor-s")
		})
	}
}

// What dispatch pays for a webhook: a look at the scope, and rendering.
func BenchmarkForm(b *testing.B) {
	w, _, r := benched(b, templated)
	b.Run("declined", func(b *testing.B) {
		f, p := load(b, good+"    scope: {levels: [critical], rules: ['A*']}\n", nil)[0].Form(), graph.Payload{Result: r}
		b.ReportAllocs()
		for b.Loop() {
			if f.Accepts(p) {
				b.Fatal("admitted")
			}
		}
	})
	b.Run("rendered", func(b *testing.B) {
		buffer, m := make([]byte, 0, 4096), graph.Message{Envelope: &graph.Envelope{}}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := w.Form().Append(buffer, graph.Payload{Result: r}, &m); err != nil {
				b.Fatal(err)
			}
		}
	})
}
