package webhook_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/internal/modetest"
)

func TestContract(t *testing.T) {
	var broken *atomic.Bool
	sinktest.Contract(t, sinktest.Harness{
		Kind: sink.KindWebhook,
		New: func(t *testing.T, m modetest.Mode) (sink.Transport, func() []string) {
			t.Helper()
			out := new(atomic.Bool)
			broken = out
			to := &receiver{}
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if out.Load() {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				to.ServeHTTP(w, r)
			})
			var dial func(context.Context, string, string) (net.Conn, error)
			url := "http://receiver.example/"
			if m.Real() {
				server := httptest.NewServer(handler)
				t.Cleanup(server.Close)
				url = server.URL
			} else {
				listener := newPipes()
				server := &http.Server{Handler: handler}
				go func() { _ = server.Serve(listener) }()
				t.Cleanup(func() { _ = server.Close() })
				dial = listener.dial
			}
			w := load(t, "webhooks:\n  - {id: w, kind: detection, url: '"+url+"', body: '${detection.rule.title}'}\n", nil)[0]
			metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
			if err != nil {
				t.Fatal(err)
			}
			clients := webhook.Clients{New: func(*tls.Config) *http.Client {
				return &http.Client{Transport: &http.Transport{DialContext: dial}}
			}}
			return clients.Open(w, metrics, slog.New(slog.DiscardHandler)), to.bodies
		},
		Break: func(*testing.T) func() {
			out := broken
			out.Store(true)
			return func() { out.Store(false) }
		},
	})
}
