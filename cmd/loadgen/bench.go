package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// minShare is how much of what one evaluating core does alone the whole daemon
// must do in a second of its own processor time, on the lanes with a bar.
const minShare = 0.6

// errMissed is the outcome of a benchmark under -check that missed a bar.
var errMissed = errors.New("a bar is missed")

func hasBar(lane string) bool { return lane == "structured_windows" || lane == sigmatest.Telemetry }

// bench holds a whole daemon under load against the engine alone.
type bench struct {
	daemon, data, lane string
	lines, connections int
	each               time.Duration
	check              bool
	more               []string // further arguments of the daemon
}

func (b *bench) run(ctx context.Context, out io.Writer) error {
	if b.data == "" {
		var err error
		if b.data, err = sigmatest.FindData(); err != nil {
			return err
		}
	}
	archive, err := sigmatest.ReadRuleArchive(b.data)
	if err != nil {
		return err
	}
	rules, err := fs.Sub(archive, "rules")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "loadgen")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, rules); err != nil {
		return err
	}
	engine, err := newAlone(rules)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-25s %14s %14s %8s %12s %8s  %9s %6s\n",
		"lane", "engine/s alone", "daemon/s CPU", "cores", "results", "share", "half in", "bar")
	missed := false
	for _, lane := range sigmatest.Lanes() {
		if b.lane != "" && b.lane != lane {
			continue
		}
		ok, err := b.measure(ctx, out, engine, dir, lane)
		if err != nil {
			return fmt.Errorf("lane %s: %w", lane, err)
		}
		missed = missed || !ok
	}
	if missed && b.check {
		return errMissed
	}
	return nil
}

// rounds is how often the daemon has its turn on a lane, between two turns of the
// engine alone, by whose mean it is measured: a machine that others use does not
// keep its pace.
const rounds = 15

// figures are of one lane; rates are of the median round.
type figures struct {
	alone, daemon float64 // events per second of processor time
	share         float64 // median of the rounds' shares
	low, high     float64 // between which the middle half of them lies
	cores         float64 // that the daemon kept busy
	results       int64
}

// measure prints one lane and reports whether it reached its bar.
func (b *bench) measure(ctx context.Context, out io.Writer, engine *alone, rules, lane string) (ok bool, err error) {
	lines, err := sigmatest.ReadLane(b.data, lane)
	if err != nil {
		return false, err
	}
	c, err := spawn(ctx, b.daemon, rules, b.more...)
	if err != nil {
		return false, err
	}
	defer c.stop()
	f, err := b.turns(ctx, engine, c, lines)
	if err != nil {
		return false, err
	}
	verdict := ""
	if ok = true; hasBar(lane) {
		ok = f.share >= minShare
		verdict = fmt.Sprintf(" %6.2f %s", minShare, map[bool]string{true: "PASS", false: "FAIL"}[ok])
	}
	fmt.Fprintf(out, "%-25s %14.0f %14.0f %8.2f %12d %8.2f  %4.2f-%4.2f%s\n",
		lane, f.alone, f.daemon, f.cores, f.results, f.share, f.low, f.high, verdict)
	return ok, nil
}

// turns lets engine and daemon judge the lines in turn.
func (b *bench) turns(ctx context.Context, engine *alone, c *child, lines [][]byte) (f figures, err error) {
	p := &post{addr: c.addr, lines: b.lines, connections: b.connections}
	bodies, err := p.bodies(append(bytes.Join(lines, []byte{'\n'}), '\n'))
	if err != nil {
		return f, err
	}
	// Not measured: tables fill, buffers grow.
	engine.lane()
	if err := engine.pass(lines); err != nil {
		return f, err
	}
	if _, _, err := c.load(ctx, p, bodies, 0); err != nil {
		return f, err
	}
	before, err := engine.rate(lines, b.each/rounds)
	if err != nil {
		return f, err
	}
	var alone, daemon, shares, cores []float64
	for range rounds {
		did, took, err := c.load(ctx, p, bodies, b.each/rounds)
		if err != nil {
			return f, err
		}
		after, err := engine.rate(lines, b.each/rounds)
		if err != nil {
			return f, err
		}
		f.results += did.results
		base, rate := (before+after)/2, float64(did.events)/did.cpu.Seconds()
		alone, daemon = append(alone, base), append(daemon, rate)
		shares, cores = append(shares, rate/base), append(cores, did.cpu.Seconds()/took.Seconds())
		before = after
	}
	f.alone, f.daemon, f.cores = quantile(alone, 2), quantile(daemon, 2), quantile(cores, 2)
	f.low, f.share, f.high = quantile(shares, 1), quantile(shares, 2), quantile(shares, 3)
	return f, nil
}

// quantile returns the quarter-th quartile; the second is the median.
func quantile(in []float64, quarter int) float64 {
	s := slices.Sorted(slices.Values(in))
	return s[len(s)*quarter/4]
}
