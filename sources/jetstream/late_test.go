package jetstream

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/sources"
)

func TestAMessageThatIsThereIsNoSilence(t *testing.T) {
	s := &Source{lost: make(chan struct{}, 1)}
	for range 50 { // a select takes either
		arrived, quiet := make(chan *nats.Msg, 1), make(chan time.Time, 1)
		quiet <- time.Now()
		if m, err := s.next(t.Context(), arrived, quiet); m != nil || !errors.Is(err, errSilent) {
			t.Fatalf("nothing has come: got %v and %v, want %v", m, err, errSilent)
		}
		arrived <- new(nats.Msg)
		quiet <- time.Now()
		if m, err := s.next(t.Context(), arrived, quiet); m == nil || err != nil {
			t.Fatalf("a message is there: got %v and %v", m, err)
		}
	}
}

func TestWhatIsConfirmedWhenTheTimeIsOverHasNotFailed(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	broken := make(chan struct{}, 1)
	for _, tc := range []struct {
		name  string
		begin func(a *acknowledger)
	}{
		{"at the end of the drain", func(a *acknowledger) { a.closing <- over }},
		{"at a connection that broke", func(a *acknowledger) {
			broken <- struct{}{}
			a.closing <- over
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			metrics := new(natsconn.InputMetrics)
			s := &Source{
				o: Options{Metrics: metrics}, log: slog.New(slog.DiscardHandler),
				ledger: sources.NewLedger[string](sources.LedgerOptions{Stream: "S", Consumer: "C", Limit: 10}),
			}
			for range 100 { // a select takes either
				a := &acknowledger{
					source: s, inbox: "inbox.", confirmed: make(chan *nats.Msg, 1), lost: broken,
					do: make(chan func()), closing: make(chan context.Context, 1), done: make(chan struct{}),
					flying: []group{{sequences: []uint64{1}, sent: time.Now()}}, open: 1,
					progress: time.NewTicker(time.Hour), gather: time.NewTimer(time.Hour),
				}
				a.confirmed <- &nats.Msg{Subject: "inbox.0"}
				tc.begin(a)
				a.run()
				select {
				case <-broken: // it ended first
				default:
				}
			}
			if n := metrics.AckFailures.Load(); n != 0 {
				t.Errorf("%d of 100 failed, want none", n)
			}
		})
	}
}
