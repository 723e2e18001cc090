package nats_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

// letters keep dead letters, and settle them as a queue that never fails.
type letters struct {
	t *testing.T

	mu      sync.Mutex     // guards the rest
	results map[string]int // how often each is in one
	records int
	late    int                  // of them
	lines   map[graph.Token]bool // of those
}

func (l *letters) Put(_ context.Context, run []graph.DeadLetter) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range run {
		var bodies []string
		if err := json.Unmarshal(d.Original, &bodies); err != nil {
			l.t.Errorf("dead letter %s: %v", d.Original, err)
		}
		for _, b := range bodies {
			l.results[b[:min(len(b), 20)]]++
		}
		l.records++
		if strings.HasSuffix(d.Error, "drain timeout") {
			l.late++
			l.lines[d.Token] = true
		}
		if d.Attempts > 3 || d.Attempts == 0 && !strings.HasSuffix(d.Error, "drain timeout") {
			l.t.Errorf("%d attempts at %.100s", d.Attempts, d.Original)
		}
		d.Token.Settle()
	}
	return len(run), nil
}

// Whatever becomes of the server, each result is stored once, or a dead letter, and each set
// settles once.
func TestEveryResultEndsOnceWhateverTheServerDoes(t *testing.T) {
	natstest.Bubbles(t)
	for _, tc := range []struct {
		name                string
		batches             bool // the stream takes batches
		full, large, denied bool
		outages, drained    bool
	}{
		{name: "nothing"},
		{name: "nothing, in batches", batches: true},
		{name: "the stream is full for a while", full: true},
		{name: "the stream is full for a while, in batches", batches: true, full: true},
		{name: "some are too large", large: true},
		{name: "some are too large, in batches", batches: true, large: true},
		{name: "some may not be published", denied: true},
		{name: "all of that", full: true, large: true, denied: true},
		{name: "the server comes and goes", outages: true},
		{name: "the server comes and goes, in batches", batches: true, outages: true},
		{name: "the server comes and goes, and more", batches: true, outages: true, large: true, denied: true},
		{name: "the drain ends", outages: true, drained: true},
		{name: "the drain ends, and some are too large", batches: true, large: true, drained: true},
	} {
		for seed := range uint64(2) {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					random := rand.New(rand.NewPCG(seed, 5))
					s := natstest.InMemory(t, func(o *server.Options) {
						o.MaxPayload = 4096
						o.Users = []*server.User{
							{Username: "admin", Password: "p"},
							{Username: "u", Password: "p", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"denied"}}}},
						}
						o.NoAuthUser = "admin"
					})
					nc, js := s.Client()
					config := jetstream.StreamConfig{Name: "sluice-results", Subjects: []string{"results"}, AllowBatchPublish: tc.batches, Duplicates: time.Hour}
					if tc.full {
						config.MaxMsgs, config.Discard = 300, jetstream.DiscardNew
					}
					for _, c := range []jetstream.StreamConfig{config, {Name: "DENIED", Subjects: []string{"denied"}}} {
						if _, err := js.CreateStream(t.Context(), c); err != nil {
							t.Fatal(err)
						}
					}
					nc.Close()
					l := &letters{t: t, results: make(map[string]int), lines: make(map[graph.Token]bool)}
					k := newSinkOver(t, open(t, s, natsconn.Config{User: "u", Password: "p"}), l, sink.Retry{Max: 2, Base: 100 * time.Millisecond, Cap: time.Second})
					var receipts []*graph.Receipt
					all := make(map[string]bool)
					var ids graph.DeliveryIDs
					send := func() {
						var bundles []*graph.Bundle
						for range 1 + random.IntN(8) {
							n := 1 + random.IntN(8)
							receipt := graph.NewReceipt(n, func() {})
							receipts = append(receipts, receipt)
							var sets []graph.Rendered
							var messages []graph.Message
							for i := range n {
								envelope := &graph.Envelope{ID: ids.Next(), Time: time.Now()}
								from := len(messages)
								for j := range 1 + random.IntN(3) {
									m := graph.Message{Envelope: envelope, Index: j, Kind: "detection"}
									body := fmt.Sprintf("result %12d ", len(all))
									all[body] = true
									if tc.large && random.IntN(40) == 0 {
										body += strings.Repeat("x", 5000)
									}
									m.Body = []byte(`"` + body + `"`)
									if tc.denied && random.IntN(40) == 0 {
										m.Address("denied")
									}
									messages = append(messages, m)
								}
								sets = append(sets, graph.Rendered{Token: receipt.Token(i), Messages: messages[from:len(messages):len(messages)]})
							}
							b := new(graph.Bundle)
							b.Begin(1, nil)
							b.Extend(sets, messages, nil)
							bundles = append(bundles, b)
						}
						if _, err := k.sink.Lane().Put(t.Context(), bundles); err != nil {
							t.Fatal(err)
						}
					}
					if tc.outages {
						done, random := make(chan struct{}), rand.New(rand.NewPCG(seed, 6))
						defer func() { <-done }()
						go func() {
							defer close(done)
							for range 4 {
								time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
								s.Down()
								time.Sleep(time.Duration(random.IntN(900)) * time.Millisecond)
								s.Up()
							}
						}()
					}
					for range 30 {
						send()
						time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
					}
					within := time.Hour
					if tc.drained {
						send()
						send()
						within = time.Millisecond
					}
					if tc.full {
						time.Sleep(50 * time.Millisecond)
						config.MaxMsgs = -1
						nc, js := s.Client()
						if _, err := js.UpdateStream(t.Context(), config); err != nil {
							t.Fatal(err)
						}
						nc.Close()
					}
					ctx, cancel := context.WithTimeout(t.Context(), within)
					defer cancel()
					k.system.Drain(ctx)
					time.Sleep(time.Minute) // the server is there again
					stored := make(map[string]int)
					for _, body := range natstest.Bodies(s.Stored("sluice-results")) {
						stored[strings.TrimPrefix(body, `"`)[:20]]++
					}
					l.mu.Lock()
					defer l.mu.Unlock()
					unsure := tc.outages || tc.drained // whether a result was stored
					for r := range all {
						in, dead := stored[r], l.results[r]
						if in > 1 || dead > 1 || in+dead == 0 || in+dead > 1 && !unsure {
							t.Errorf("%q is stored %d times and a dead letter %d times", r, in, dead)
						}
					}
					open := 0
					for _, r := range receipts {
						open += r.Open()
						if r.Overdrawn() != 0 {
							t.Errorf("%d lines are settled too often", r.Overdrawn())
						}
					}
					if open != len(l.lines) {
						t.Errorf("%d lines are open, want the %d of which a result is late", open, len(l.lines))
					}
					if d := k.failures(); d != l.records-l.late || !tc.drained && l.late > 0 {
						t.Errorf("%d failures are counted, with %d dead letters of which %d are late", d, l.records, l.late)
					}
					if wanted := tc.large || tc.denied || tc.full; wanted && l.records == 0 {
						t.Error("nothing failed, which tests nothing")
					}
				})
			})
		}
	}
}

// sinkOver is a sink as the daemon makes it.
type sinkOver struct {
	system   *actors.System
	sink     *sink.Sink
	failures func() int
}

func newSinkOver(t *testing.T, transport sink.Transport, dead sink.DeadLetters, retry sink.Retry) *sinkOver {
	t.Helper()
	registry := prometheus.NewRegistry()
	metrics, err := sink.NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	k := &sinkOver{system: actors.NewSystem(actors.Options{MaxRestarts: 10})}
	k.sink, err = sink.New(sink.Options{
		Label: "nats", Kind: sink.KindNATS, OnFull: sink.Block, Form: step.Native{}, Transport: transport, Retry: retry,
		BatchMax: 4, Capacity: 1000, DeadLetters: dead, Metrics: metrics, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	k.failures = func() int {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "sink_delivery_failures_total" {
				return int(f.GetMetric()[0].GetCounter().GetValue())
			}
		}
		return 0
	}
	if _, err := k.system.Spawn(k.sink.Cell(), k.sink.Produce); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.system.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := k.sink.Close(); err != nil {
			t.Error(err)
		}
		if strings.Contains(log.String(), "panic") {
			t.Errorf("logged %s", &log)
		}
	})
	return k
}
