package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// minDaemonShare is how much of what one evaluating core does alone the whole
// daemon must do in a second of its own processor time, on the lanes with a bar.
const minDaemonShare = 0.6

func hasDaemonBar(lane string) bool {
	return lane == structuredWindows || lane == sigmatest.Telemetry
}

// bench holds a whole daemon under load against the engine alone.
type bench struct {
	*report
	program string
	more    []string // further arguments of the daemon
	inlet   string   // the only one that is measured, "" for all
	post    post
}

func (b *bench) run(ctx context.Context, o options) error {
	rules, err := loadRules(o.data)
	if err != nil {
		return err
	}
	alone, err := newJudge(rules, nil)
	if err != nil {
		return err
	}
	b.printf("%-25s %14s %14s %8s %12s %8s  %9s %6s\n",
		"lane", "engine/s alone", "daemon/s CPU", "cores", "results", "share", "half in", "bar")
	return b.eachLane(o, func(lines [][]byte, rules, lane string) error { return b.lane(ctx, alone, lines, o.each, rules, lane) })
}

// eachLane measures the lanes that are wanted, with the directory of the rules.
func (b *bench) eachLane(o options, measure func(lines [][]byte, rules, lane string) error) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := unpack(o.data, dir); err != nil {
		return err
	}
	for _, lane := range sigmatest.Lanes() {
		if o.only != "" && o.only != lane {
			continue
		}
		lines, err := sigmatest.ReadLane(o.data, lane)
		if err == nil {
			err = measure(lines, filepath.Join(dir, "rules"), lane)
		}
		if err != nil {
			return fmt.Errorf("lane %s: %w", lane, err)
		}
	}
	return nil
}

// sender posts to a daemon.
func (b *bench) sender(c *child) *post {
	return &post{addr: c.addr, lines: b.post.lines, connections: b.post.connections, contentType: typeNDJSON}
}

// alternate gives two loads their turns, and returns the rates of each round and what share makes
// of them. The first round does not count: tables fill and buffers grow.
func alternate(one, other func() (float64, error), share func(one, other float64) float64) (ones, others, shares []float64, err error) {
	for round := range rounds + 1 {
		a, err := one()
		if err != nil {
			return nil, nil, nil, err
		}
		b, err := other()
		if err != nil {
			return nil, nil, nil, err
		}
		if round > 0 {
			ones, others, shares = append(ones, a), append(others, b), append(shares, share(a, b))
		}
	}
	return ones, others, shares, nil
}

// rounds is how often the daemon has its turn on a lane, between two turns of the
// engine alone, by whose mean it is measured: a machine that others use does not
// keep its pace.
const rounds = 15

// shares are the figures of one lane; rates are of the median round.
type shares struct {
	alone, daemon float64 // events per second of processor time
	share         float64 // median of the rounds' shares
	low, high     float64 // between which the middle half of them lies
	cores         float64 // that the daemon kept busy
	results       int64
}

// lane measures and prints one lane.
func (b *bench) lane(ctx context.Context, alone *judge, lines [][]byte, each time.Duration, rules, lane string) error {
	c, err := spawn(ctx, b.program, rules, b.more...)
	if err != nil {
		return err
	}
	defer c.stop()
	f, err := b.turns(ctx, alone, c, lines, each)
	if err != nil {
		return err
	}
	verdict := ""
	if hasDaemonBar(lane) {
		verdict = fmt.Sprintf(" %6.2f %s", minDaemonShare, b.holds(f.share >= minDaemonShare))
	}
	b.printf("%-25s %14.0f %14.0f %8.2f %12d %8.2f  %4.2f-%4.2f%s\n",
		lane, f.alone, f.daemon, f.cores, f.results, f.share, f.low, f.high, verdict)
	return nil
}

// rate judges the lines over and over for about the given time, on one core, and
// returns how many the engine gets through in a second of processor time.
func rate(j *judge, lines [][]byte, each time.Duration) (float64, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	used, judged := time.Duration(0), 0
	for begin := time.Now(); judged == 0 || time.Since(begin) < each; {
		var err error
		used += timed(func() { err = j.run(lines) })
		if err != nil {
			return 0, err
		}
		judged += len(lines)
	}
	return float64(judged) / used.Seconds(), nil
}

// turns lets the engine alone and the daemon judge the lines in turn.
func (b *bench) turns(ctx context.Context, engine *judge, c *child, lines [][]byte, each time.Duration) (f shares, err error) {
	p := b.sender(c)
	bodies := p.bodies(append(bytes.Join(lines, []byte{'\n'}), '\n'))
	// Not measured: tables fill, buffers grow.
	engine.forget()
	if err := engine.run(lines); err != nil {
		return f, err
	}
	if _, _, err := c.load(ctx, p, bodies, 0); err != nil {
		return f, err
	}
	before, err := rate(engine, lines, each/rounds)
	if err != nil {
		return f, err
	}
	var alone, daemon, parts, cores []float64
	for range rounds {
		did, took, err := c.load(ctx, p, bodies, each/rounds)
		if err != nil {
			return f, err
		}
		after, err := rate(engine, lines, each/rounds)
		if err != nil {
			return f, err
		}
		f.results += did.results
		base, done := (before+after)/2, float64(did.events)/did.cpu.Seconds()
		alone, daemon = append(alone, base), append(daemon, done)
		parts, cores = append(parts, done/base), append(cores, did.cpu.Seconds()/took.Seconds())
		before = after
	}
	f.alone, f.daemon, f.cores = quantile(alone, 2), quantile(daemon, 2), quantile(cores, 2)
	f.low, f.share, f.high = quantile(parts, 1), quantile(parts, 2), quantile(parts, 3)
	return f, nil
}
