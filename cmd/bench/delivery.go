package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// minDelivery is how many results a daemon delivers over a protocol for each second of its
// processor time, measured against those that it writes to a file.
const minDelivery = 0.5

// outputs are the sinks that are compared. The first is what the others are compared with.
var outputs = []struct{ name, protocol, spec string }{
	{"file", "", "file://"},
	{"nats", natsBatches, "nats://%s/results"},
	{"nats singly", natsSingly, "nats://%s/results"},
	{"otlp", otlpGRPC, "otlp://%s"},
	{"otlphttp", otlpHTTP, "otlphttp://%s"},
}

// runDelivery compares daemons that write to a file with others that send to a receiver. The
// receivers have processes of their own, whose time does not count.
func (b *bench) runDelivery(ctx context.Context, o options) error {
	b.printf("\n%-25s %-11s %16s %8s  %13s %6s\n", "lane", "sink", "results/s CPU", "of file", "half in", "bar")
	return b.eachLane(o, func(lines [][]byte, rules, lane string) error { return b.delivery(ctx, lines, o, rules, lane) })
}

// delivery measures and prints one lane, all daemons in turn.
func (b *bench) delivery(ctx context.Context, lines [][]byte, o options, rules, lane string) error {
	text := append(bytes.Join(lines, []byte{'\n'}), '\n')
	dir := filepath.Dir(rules)
	file := filepath.Join(dir, "out")
	defer os.RemoveAll(file)
	var rates []func() (float64, error)
	for _, out := range outputs {
		spec := out.spec + file
		if out.protocol != "" {
			address, stop, err := receiver(ctx, out.protocol, dir)
			if err != nil {
				return err
			}
			defer stop()
			spec = fmt.Sprintf(out.spec, address)
		}
		c, err := spawnWith(ctx, access{}, b.program, rules, append([]string{"--output", spec}, b.more...)...)
		if err != nil {
			return err
		}
		defer c.stop()
		p := b.sender(c)
		bodies := p.bodies(text)
		rates = append(rates, func() (float64, error) {
			did, _, err := c.load(ctx, p, bodies, o.each/rounds)
			if err == nil && out.protocol == "" {
				err = os.Truncate(file, 0) // it would fill the disk
			}
			return float64(did.results) / did.cpu.Seconds(), err
		})
	}
	results, shares := make([][]float64, len(rates)), make([][]float64, len(rates))
	for round := range rounds + 1 {
		var written float64
		for i, rate := range rates {
			did, err := rate()
			if err != nil {
				return err
			}
			if i == 0 {
				written = did
			}
			if round > 0 { // in the first, tables fill and buffers grow
				results[i], shares[i] = append(results[i], did), append(shares[i], did/written)
			}
		}
	}
	for i, out := range outputs {
		b.printf("%-25s %-11s %16.0f", lane, out.name, median(results[i]))
		if i > 0 {
			share := median(shares[i])
			b.printf(" %7.0f%%  %5.0f%%-%5.0f%% %5.0f%% %s", 100*share, 100*quantile(shares[i], 1), 100*quantile(shares[i], 3), 100*minDelivery, b.holds(share >= minDelivery))
		}
		b.printf("\n")
	}
	return nil
}
