package kafka

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
	"github.com/sluicehq/sluice/internal/logtest"
	"github.com/sluicehq/sluice/internal/modetest"
)

func TestASourceSaysWhetherABrokerIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, 1)
		c.Produce("events", 0, []byte("a"))
		var log logtest.Buffer
		s := open(t, c, func(o *Options) {
			o.Dialer.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		want := func(what string, connected bool, disconnected, disconnects float64) {
			t.Helper()
			until(t, what, func() bool { return s.Connection().Connected == connected })
			if got := valueOf(t, s.o.Metrics.disconnected); got != disconnected {
				t.Errorf("%s: the series says %v inputs have no connection, want %v", what, got, disconnected)
			}
			if got := valueOf(t, s.o.Metrics.disconnects); got != disconnects {
				t.Errorf("%s: the series says %v connections were lost, want %v", what, got, disconnects)
			}
		}
		want("before it runs", false, 0, 0)
		r := read(t, s, 10)
		want("a broker that is there", true, 0, 0)
		until(t, "the first line", func() bool { return len(r.in.Lines()) == 1 })
		time.Sleep(time.Minute)
		gone := time.Now()
		c.Down()
		want("a broker that is away", false, 1, 1)
		if since := s.Connection().Since; since.Before(gone) || since.After(gone.Add(5*time.Second)) {
			t.Errorf("it is away since %v, want %v", since, gone)
		}
		until(t, "the reason", func() bool { return s.Connection().LastError != "" })
		if text := "level=WARN msg=\"no broker is connected: nothing is read\""; strings.Count(log.String(), text) != 1 {
			t.Errorf("the log says not once that the broker is away:\n%s", log.String())
		}
		time.Sleep(time.Minute)
		back := time.Now()
		c.Up()
		want("a broker that is back", true, 0, 1)
		if since := s.Connection().Since; since.Before(back) {
			t.Errorf("it is back since %v, want %v or later", since, back)
		}
		if text := "level=INFO msg=\"a broker answers\""; strings.Count(log.String(), text) != 2 {
			t.Errorf("the log says not at the start and then again that a broker answers:\n%s", log.String())
		}
		c.Down()
		want("a broker that is away again", false, 1, 2)
		c.Up()
		want("a broker that is back again", true, 0, 2)
		r.stop()
		want("the end", true, 0, 2) // which is no loss
	})
}

// A broker that takes connections and refuses the login is not one that is there.
func TestABrokerThatRefusesTheLoginIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, 1, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "u", "right"))
		metrics, err := NewMetrics(prometheus.NewRegistry())
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Settings: Settings{Group: "g", Pending: 10}, Target: c.Target("events"), Metrics: metrics}
		o.Dialer = c.Dialer(kafkaconn.Config{User: "u", Password: "wrong", SASL: kafkaconn.ScramSHA512})
		tries := make(chan struct{}, 1)
		connect := o.Dialer.Dial
		o.Dialer.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			signal(tries)
			return connect(ctx, network, address)
		}
		s := newSource(o, []string{c.Broker()}, dial.Topic{Name: "events"})
		read(t, s, 10)
		<-tries
		for range 600 {
			if synctest.Wait(); s.Connection().Connected {
				t.Fatal("it counts as connected")
			}
			time.Sleep(50 * time.Millisecond)
		}
		until(t, "the reason", func() bool { return strings.Contains(s.Connection().LastError, "--kafka-user") })
	})
}
