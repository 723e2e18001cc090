package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// feeders are the inputs that are compared with events over HTTP: how much of their speed
// one must have at least, and how the bench feeds it.
var feeders = []struct {
	name, protocol, input string
	bar                   float64
	open                  func(ctx context.Context, address string) (feeder, error)
}{
	{"nats", "nats", "nats://%s/events?format=json", 0.7, openNATSFeeder},
}

// feeder sends lines to where an input reads them.
type feeder interface {
	feed(ctx context.Context, lines [][]byte) error
	close()
}

// runInputs compares events that come over HTTP, as lines, with the same events that come
// another way into the same daemon, by its own processor time. Servers have processes of
// their own.
func (b *bench) runInputs(ctx context.Context, o options) error {
	b.printf("%-25s %-10s %14s %14s %8s  %9s %6s\n", "lane", "input", "http/s CPU", "events/s CPU", "share", "half in", "bar")
	return b.eachLane(o, func(lines [][]byte, rules, lane string) error {
		for i := range feeders {
			if err := b.input(ctx, i, lines, o, rules, lane); err != nil {
				return fmt.Errorf("input %s: %w", feeders[i].name, err)
			}
		}
		return nil
	})
}

// input measures and prints one lane over one input, in turn with HTTP.
func (b *bench) input(ctx context.Context, number int, lines [][]byte, o options, rules, lane string) error {
	how := feeders[number]
	address, stop, err := receiver(ctx, how.protocol)
	if err != nil {
		return err
	}
	defer stop()
	f, err := how.open(ctx, address)
	if err != nil {
		return err
	}
	defer f.close()
	c, err := spawn(ctx, b.program, rules, append([]string{"--input", fmt.Sprintf(how.input, address), "--input-format", "json"}, b.more...)...)
	if err != nil {
		return err
	}
	defer c.stop()
	p := b.sender(c)
	bodies := p.bodies(append(bytes.Join(lines, []byte{'\n'}), '\n'))
	var fed int64
	rate := func(send func() (int64, error)) func() (float64, error) {
		return func() (float64, error) {
			first, err := c.spent(ctx)
			if err != nil {
				return 0, err
			}
			for begin := time.Now(); time.Since(begin) < o.each/(2*rounds); {
				n, err := send()
				if err != nil {
					return 0, err
				}
				fed += n
			}
			last, err := c.done(ctx, fed)
			return float64(last.events-first.events) / (last.cpu - first.cpu).Seconds(), err
		}
	}
	overHTTP := rate(func() (int64, error) {
		before := p.accepted.Load()
		err := p.send(ctx, bodies, func(round int) bool { return round == 0 })
		return p.accepted.Load() - before, err
	})
	other := rate(func() (int64, error) { return int64(len(lines)), f.feed(ctx, lines) })
	plain, others, shares, err := alternate(overHTTP, other, func(h, n float64) float64 { return n / h })
	if err != nil {
		return err
	}
	share := quantile(shares, 2)
	b.printf("%-25s %-10s %14.0f %14.0f %8.2f  %4.2f-%4.2f %6.2f %s\n", lane, how.name, quantile(plain, 2), quantile(others, 2), share,
		quantile(shares, 1), quantile(shares, 3), how.bar, b.holds(share >= how.bar))
	return nil
}

// natsFeeder publishes to a stream.
type natsFeeder struct {
	conn *nats.Conn
	js   jetstream.JetStream
}

func openNATSFeeder(ctx context.Context, address string) (feeder, error) {
	conn, err := nats.Connect("nats://" + address)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err == nil {
		_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{"events"}, Retention: jetstream.WorkQueuePolicy})
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &natsFeeder{conn, js}, nil
}

func (f *natsFeeder) feed(ctx context.Context, lines [][]byte) error {
	for _, l := range lines {
		if _, err := f.js.PublishAsync("events", l, jetstream.WithStallWait(time.Minute)); err != nil {
			return err
		}
	}
	select {
	case <-f.js.PublishAsyncComplete():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *natsFeeder) close() { f.conn.Close() }
