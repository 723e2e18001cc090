package main

import (
	"bytes"
	"context"
	"os"
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
	b.printf("%-25s %14s %14s %14s  %13s %6s\n", "lane", "one/s CPU", "three/s CPU", "each further", "half in", "bar")
	err := b.eachLane(o, func(lines [][]byte, rules, lane string) error { return b.sinks(ctx, lines, o, rules, lane) })
	if err != nil {
		return err
	}
	return b.runDelivery(ctx, o)
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
		p := b.sender(c)
		bodies := p.bodies(text)
		rates[i] = func() (float64, error) {
			did, _, err := c.load(ctx, p, bodies, o.each/(2*rounds))
			return float64(did.events) / did.cpu.Seconds(), err
		}
		for range furtherSinks {
			more = append(more[:len(more):len(more)], "--output", "file://"+os.DevNull)
		}
	}
	one, three, shares, err := alternate(rates[0], rates[1], func(few, many float64) float64 { return (few/many - 1) / furtherSinks })
	if err != nil {
		return err
	}
	share := median(shares)
	b.printf("%-25s %14.0f %14.0f %13.1f%%  %5.1f%%-%5.1f%% %5.0f%% %s\n", lane, median(one), median(three), 100*share,
		100*quantile(shares, 1), 100*quantile(shares, 3), 100*maxSinkShare, b.holds(share <= maxSinkShare))
	return nil
}
