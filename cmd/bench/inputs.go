package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"
)

// minInputShare is how fast events must be that come another way, measured against the same
// bodies in requests.
const minInputShare = 0.7

// inlet is a way in which events come, beside requests.
type inlet struct {
	name, protocol string // of the server between, "" for none
	input          string // of the daemon, with the address
	singly         bool   // each message is one event, which is not what a request has, so it has no bar
	open           func(ctx context.Context, address string) (feeder, error)
}

var inlets = []inlet{
	{"unix", "", "unix://%s?format=json", false, openUnixFeeder},
	{"nats", "nats", "nats://%s/events?format=json", false, openNATSFeeder},
	{"nats, singly", "nats", "nats://%s/events?format=json", true, openNATSFeeder},
	{"kafka", "kafka", "kafka://%s/events?format=json", false, openKafkaFeeder},
	{"kafka, singly", "kafka", "kafka://%s/events?format=json", true, openKafkaFeeder},
}

// feeder sends to where an input reads.
type feeder interface {
	feed(ctx context.Context, messages [][]byte) error
	// forget lets go of what the daemon has done.
	forget(ctx context.Context) error
	close()
}

// largestMessage is how large a message may be that brokers take unasked.
const largestMessage = 512 << 10

// fitting cuts data into requests that are messages, too.
func (p *post) fitting(data []byte) [][]byte {
	for ; ; p.lines = (p.lines + 1) / 2 {
		bodies, largest := p.bodies(data), 0
		for _, body := range bodies {
			largest = max(largest, len(body))
		}
		if largest <= largestMessage || p.lines == 1 {
			return bodies
		}
	}
}

// runInputs compares events that come over HTTP, as lines, with the same events that come
// another way into the same daemon, by its own processor time. Servers have processes of
// their own.
func (b *bench) runInputs(ctx context.Context, o options) error {
	b.printf("%-25s %-14s %14s %14s %8s  %9s %6s\n", "lane", "input", "http/s CPU", "events/s CPU", "share", "half in", "bar")
	return b.eachLane(o, func(lines [][]byte, rules, lane string) error {
		for _, w := range inlets {
			if b.inlet != "" && b.inlet != w.name {
				continue
			}
			if err := b.input(ctx, w, lines, o, rules, lane); err != nil {
				return fmt.Errorf("input %s: %w", w.name, err)
			}
		}
		return nil
	})
}

// input measures and prints one lane over one input, in turn with HTTP.
func (b *bench) input(ctx context.Context, w inlet, lines [][]byte, o options, rules, lane string) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	address := dir + "/s"
	if w.protocol != "" {
		var stop func()
		if address, stop, err = receiver(ctx, w.protocol, dir); err != nil {
			return err
		}
		defer stop()
	}
	f, err := w.open(ctx, address)
	if err != nil {
		return err
	}
	defer f.close()
	c, err := spawn(ctx, b.program, rules, append([]string{"--input", fmt.Sprintf(w.input, address), "--input-format", "json"}, b.more...)...)
	if err != nil {
		return err
	}
	defer c.stop()
	p := b.sender(c)
	bodies := p.fitting(append(bytes.Join(lines, []byte{'\n'}), '\n'))
	messages := bodies
	if w.singly {
		messages = lines
	}
	var fed int64
	rate := func(send func() error) func() (float64, error) {
		return func() (float64, error) {
			first, err := c.begin(ctx)
			if err != nil {
				return 0, err
			}
			for begin := time.Now(); time.Since(begin) < o.each/(2*rounds); fed += int64(len(lines)) {
				if err := send(); err != nil {
					return 0, err
				}
			}
			last, err := c.done(ctx, fed)
			if err != nil {
				return 0, err
			}
			return float64(last.events-first.events) / (last.cpu - first.cpu).Seconds(), f.forget(ctx)
		}
	}
	overHTTP := rate(func() error { return p.send(ctx, bodies, func(round int) bool { return round == 0 }) })
	other := rate(func() error { return f.feed(ctx, messages) })
	plain, others, shares, err := alternate(overHTTP, other, func(h, n float64) float64 { return n / h })
	if err != nil {
		return err
	}
	share, verdict := quantile(shares, 2), ""
	if !w.singly {
		verdict = fmt.Sprintf(" %6.2f %s", minInputShare, b.holds(share >= minInputShare))
	}
	b.printf("%-25s %-14s %14.0f %14.0f %8.2f  %4.2f-%4.2f%s\n", lane, w.name, quantile(plain, 2), quantile(others, 2), share,
		quantile(shares, 1), quantile(shares, 3), verdict)
	return nil
}
