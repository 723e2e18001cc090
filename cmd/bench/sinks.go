package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// maxSinkShare is how much of the processor time per event, measured with one sink, each
// further sink of native lines may add.
const maxSinkShare = 0.03

// furtherSinks is how many sinks are added to the first.
const furtherSinks = 2

// runSinks compares daemons with one and with three sinks of native lines. All write to a
// device that throws everything away, so the figures are the daemon's alone. Then it
// compares sinks that send with one that writes.
func (b *bench) runSinks(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := unpack(o.data, dir); err != nil {
		return err
	}
	b.printf("%-25s %14s %14s %14s  %13s %6s\n", "lane", "one/s CPU", "three/s CPU", "each further", "half in", "bar")
	for _, lane := range sigmatest.Lanes() {
		if o.only != "" && o.only != lane {
			continue
		}
		lines, err := sigmatest.ReadLane(o.data, lane)
		if err == nil {
			err = b.sinks(ctx, lines, o, filepath.Join(dir, "rules"), lane)
		}
		if err != nil {
			return fmt.Errorf("lane %s: %w", lane, err)
		}
	}
	return b.runDelivery(ctx, o, dir)
}

// sinks measures and prints one lane, both daemons in turn.
func (b *bench) sinks(ctx context.Context, lines [][]byte, o options, rules, lane string) error {
	text := append(bytes.Join(lines, []byte{'\n'}), '\n')
	more := b.more
	var rates [2]func() (float64, error)
	for i := range rates {
		c, err := spawn(ctx, b.program, rules, more...)
		if err != nil {
			return err
		}
		defer c.stop()
		p := &post{addr: c.addr, lines: b.post.lines, connections: b.post.connections, contentType: typeNDJSON}
		bodies := p.bodies(text)
		rates[i] = func() (float64, error) {
			did, _, err := c.load(ctx, p, bodies, o.each/(2*rounds))
			return float64(did.events) / did.cpu.Seconds(), err
		}
		for range furtherSinks {
			more = append(more[:len(more):len(more)], "--output", "file://"+os.DevNull)
		}
	}
	var one, three, shares []float64
	for round := range rounds + 1 {
		few, err := rates[0]()
		if err != nil {
			return err
		}
		many, err := rates[1]()
		if err != nil {
			return err
		}
		if round > 0 { // in the first, tables fill and buffers grow
			one, three, shares = append(one, few), append(three, many), append(shares, (few/many-1)/furtherSinks)
		}
	}
	share := median(shares)
	b.printf("%-25s %14.0f %14.0f %13.1f%%  %5.1f%%-%5.1f%% %5.0f%% %s\n", lane, median(one), median(three), 100*share,
		100*quantile(shares, 1), 100*quantile(shares, 3), 100*maxSinkShare, b.holds(share <= maxSinkShare))
	return nil
}
