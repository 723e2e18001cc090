package main

import (
	"bytes"
	"context"
)

// minBodyShare is how fast events must be that come as arrays, measured against the
// same events as lines.
const minBodyShare = 0.8

// asArray makes the events of a body of lines the elements of an array.
func asArray(lines []byte) []byte {
	elements := bytes.ReplaceAll(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n"), []byte(","))
	return append(append([]byte("["), elements...), ']')
}

// runBodies compares bodies of lines with bodies that are one array of the same events.
func (b *bench) runBodies(ctx context.Context, o options) error {
	b.printf("%-25s %14s %14s %8s  %9s %6s\n", "lane", "lines/s CPU", "arrays/s CPU", "share", "half in", "bar")
	return b.eachLane(o, func(lines [][]byte, rules, lane string) error { return b.bodies(ctx, lines, o, rules, lane) })
}

// bodies measures and prints one lane, lines and arrays in turn.
func (b *bench) bodies(ctx context.Context, lines [][]byte, o options, rules, lane string) error {
	c, err := spawn(ctx, b.program, rules, b.more...)
	if err != nil {
		return err
	}
	defer c.stop()
	p := b.sender(c)
	plain := p.bodies(append(bytes.Join(lines, []byte{'\n'}), '\n'))
	arrays := make([][]byte, len(plain))
	for i := range plain {
		arrays[i] = asArray(plain[i])
	}
	rate := func(bodies [][]byte, contentType string) func() (float64, error) {
		return func() (float64, error) {
			p.contentType = contentType
			did, _, err := c.load(ctx, p, bodies, o.each/(2*rounds))
			return float64(did.events) / did.cpu.Seconds(), err
		}
	}
	asLines, asArrays, shares, err := alternate(rate(plain, typeNDJSON), rate(arrays, typeJSON), func(l, a float64) float64 { return a / l })
	if err != nil {
		return err
	}
	share := quantile(shares, 2)
	b.printf("%-25s %14.0f %14.0f %8.2f  %4.2f-%4.2f %6.2f %s\n", lane, quantile(asLines, 2), quantile(asArrays, 2), share,
		quantile(shares, 1), quantile(shares, 3), minBodyShare, b.holds(share >= minBodyShare))
	return nil
}
