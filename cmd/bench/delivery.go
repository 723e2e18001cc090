package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// minDelivery is how many results a daemon delivers over a protocol for each second of its
// processor time, measured against those that it writes to a file.
const minDelivery = 0.5

// largeBatch is what --sink-batch-max is raised to where many results come.
const largeBatch = "1024"

// outputs are the sinks that are compared, with the default batches and with large ones. A
// file comes first, with which those behind it are compared.
var outputs = []struct{ name, protocol, spec, batch string }{
	{"file", "", "file://", ""},
	{"nats", natsBatches, "nats://%s/results", ""},
	{"nats singly", natsSingly, "nats://%s/results", ""},
	{"otlp", otlpGRPC, "otlp://%s", ""},
	{"otlphttp", otlpHTTP, "otlphttp://%s", ""},
	{"file", "", "file://", largeBatch},
	{"nats", natsBatches, "nats://%s/results", largeBatch},
	{"otlp", otlpGRPC, "otlp://%s", largeBatch},
	{"otlphttp", otlpHTTP, "otlphttp://%s", largeBatch},
}

// runDelivery compares daemons that write to a file with others that send to a receiver. The
// receivers have processes of their own, whose time does not count. The bar is for all lanes
// together, of which each has the same number of events.
func (b *bench) runDelivery(ctx context.Context, o options) error {
	b.printf("\n%-25s %-11s %6s %16s %8s  %13s %6s\n", "lane", "sink", "batch", "results/s CPU", "of file", "half in", "bar")
	results, costs := make([]float64, len(outputs)), make([]float64, len(outputs)) // of an event of each lane
	err := b.eachLane(o, func(lines [][]byte, rules, lane string) error {
		rounds, err := b.delivery(ctx, lines, o, rules)
		if err != nil {
			return err
		}
		var written []float64
		for i, out := range outputs {
			perEvent, perSecond := make([]float64, len(rounds)), make([]float64, len(rounds))
			for k, round := range rounds {
				perEvent[k] = round[i].cpu.Seconds() / float64(round[i].events)
				perSecond[k] = float64(round[i].results) / round[i].cpu.Seconds()
			}
			cost := median(perEvent)
			costs[i] += cost
			results[i] += cost * median(perSecond)
			b.printf("%-25s %-11s %6s %16.0f", lane, out.name, cmp.Or(out.batch, "64"), median(perSecond))
			if out.protocol == "" {
				written = perSecond
				b.printf("\n")
				continue
			}
			shares := make([]float64, len(rounds))
			for k := range shares {
				shares[k] = perSecond[k] / written[k]
			}
			b.printf(" %7.0f%%  %5.0f%%-%5.0f%%\n", 100*median(shares), 100*quantile(shares, 1), 100*quantile(shares, 3))
		}
		return nil
	})
	if err != nil {
		return err
	}
	var written float64
	for i, out := range outputs {
		rate := results[i] / costs[i]
		b.printf("%-25s %-11s %6s %16.0f", "together", out.name, cmp.Or(out.batch, "64"), rate)
		if out.protocol == "" {
			written = rate
			b.printf("\n")
			continue
		}
		b.printf(" %7.0f%%  %13s %5.0f%% %s\n", 100*rate/written, "", 100*minDelivery, b.holds(rate >= minDelivery*written))
	}
	return nil
}

// delivery measures one lane, all daemons in turn, and returns what each did in each round.
func (b *bench) delivery(ctx context.Context, lines [][]byte, o options, rules string) (did [][]spent, err error) {
	text := append(bytes.Join(lines, []byte{'\n'}), '\n')
	dir := filepath.Dir(rules)
	var loads []func() (spent, error)
	for i, out := range outputs {
		file := filepath.Join(dir, fmt.Sprintf("out%d", i))
		defer os.RemoveAll(file)
		spec := out.spec + file
		if out.protocol != "" {
			address, stop, err := receiver(ctx, out.protocol, dir)
			if err != nil {
				return nil, err
			}
			defer stop()
			spec = fmt.Sprintf(out.spec, address)
		}
		more := append([]string{"--output", spec}, b.more...)
		if out.batch != "" {
			more = append(more, "--sink-batch-max", out.batch)
		}
		c, err := spawnWith(ctx, access{}, b.program, rules, more...)
		if err != nil {
			return nil, err
		}
		defer c.stop()
		p := b.sender(c)
		bodies := p.bodies(text)
		loads = append(loads, func() (spent, error) {
			did, _, err := c.load(ctx, p, bodies, o.each/rounds)
			if err == nil && out.protocol == "" {
				err = os.Truncate(file, 0) // it would fill the disk
			}
			return did, err
		})
	}
	for round := range rounds + 1 {
		of := make([]spent, len(loads))
		for i, load := range loads {
			if of[i], err = load(); err != nil {
				return nil, err
			}
		}
		if round > 0 { // in the first, tables fill and buffers grow
			did = append(did, of)
		}
	}
	return did, nil
}
