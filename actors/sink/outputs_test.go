package sink

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/graph"
)

// closing is a destination of which only the end matters.
type closing struct {
	hangs  chan struct{} // nil for one that closes at once
	err    error
	closed bool
}

func (c *closing) Write(context.Context, []graph.Message) (int, error) { return 0, nil }
func (c *closing) Abandon()                                            {}
func (c *closing) Reopen()                                             {}

func (c *closing) Close() error {
	if c.hangs != nil {
		<-c.hangs
	}
	c.closed = true
	return c.err
}

func TestASinkThatDoesNotCloseKeepsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		metrics, err := NewMetrics(prometheus.NewRegistry())
		if err != nil {
			t.Fatal(err)
		}
		stuck, full, good := &closing{hangs: make(chan struct{})}, &closing{err: errors.New("disk full")}, &closing{}
		o := &Outputs{}
		for label, to := range map[string]*closing{"file": stuck, "file-2": full, "file-3": good} {
			s, err := New(Options{Label: label, Kind: KindFile, Transport: to, Capacity: 1, Metrics: metrics, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			o.Sinks = append(o.Sinks, s)
		}
		begin := time.Now()
		err = o.close()
		if took := time.Since(begin); took != closeGrace || !good.closed || !full.closed {
			t.Errorf("after %s the others are closed: %t, %t; want them closed meanwhile", took, good.closed, full.closed)
		}
		for _, want := range []string{"not closed in time: file", "disk full"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q in it", err, want)
			}
		}
		close(stuck.hangs)
	})
}
