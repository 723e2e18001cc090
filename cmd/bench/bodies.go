package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sluicehq/sluice/internal/sigmatest"
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
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := unpack(o.data, dir); err != nil {
		return err
	}
	b.printf("%-25s %14s %14s %8s  %9s %6s\n", "lane", "lines/s CPU", "arrays/s CPU", "share", "half in", "bar")
	for _, lane := range sigmatest.Lanes() {
		if o.only != "" && o.only != lane {
			continue
		}
		lines, err := sigmatest.ReadLane(o.data, lane)
		if err == nil {
			err = b.bodies(ctx, lines, o, filepath.Join(dir, "rules"), lane)
		}
		if err != nil {
			return fmt.Errorf("lane %s: %w", lane, err)
		}
	}
	return nil
}

// bodies measures and prints one lane, lines and arrays in turn.
func (b *bench) bodies(ctx context.Context, lines [][]byte, o options, rules, lane string) error {
	c, err := spawn(ctx, b.program, rules, b.more...)
	if err != nil {
		return err
	}
	defer c.stop()
	p := &post{addr: c.addr, lines: b.post.lines, connections: b.post.connections, contentType: typeNDJSON}
	plain := p.bodies(append(bytes.Join(lines, []byte{'\n'}), '\n'))
	arrays := make([][]byte, len(plain))
	for i := range plain {
		arrays[i] = asArray(plain[i])
	}
	rate := func(bodies [][]byte, contentType string) (float64, error) {
		p.contentType = contentType
		did, _, err := c.load(ctx, p, bodies, o.each/(2*rounds))
		return float64(did.events) / did.cpu.Seconds(), err
	}
	var asLines, asArrays, shares []float64
	for round := range rounds + 1 {
		l, err := rate(plain, typeNDJSON)
		if err != nil {
			return err
		}
		a, err := rate(arrays, typeJSON)
		if err != nil {
			return err
		}
		if round > 0 { // in the first, tables fill and buffers grow
			asLines, asArrays, shares = append(asLines, l), append(asArrays, a), append(shares, a/l)
		}
	}
	share := quantile(shares, 2)
	b.printf("%-25s %14.0f %14.0f %8.2f  %4.2f-%4.2f %6.2f %s\n", lane, quantile(asLines, 2), quantile(asArrays, 2), share,
		quantile(shares, 1), quantile(shares, 3), minBodyShare, b.holds(share >= minBodyShare))
	return nil
}
