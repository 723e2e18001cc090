package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// minSocketShare is how fast events must be that come over a unix socket, measured against
// the same events in requests. Those of syslog have no bar.
const minSocketShare = 0.7

// socket is one that events are sent to, beside requests.
type socket struct {
	name, network, address string
	parts                  [][]byte // what is sent, one after the other
	bar                    bool
}

// runSockets compares requests with sockets, at one daemon that has them all.
func (b *bench) runSockets(ctx context.Context, o options) error {
	b.printf("%-25s %-16s %14s %14s %8s  %9s %6s\n", "lane", "socket", "HTTP/s CPU", "socket/s CPU", "share", "half in", "bar")
	return b.eachLane(o, func(lines [][]byte, rules, lane string) error { return b.sockets(ctx, lines, o, rules, lane) })
}

// freePort is a port that is free at the moment.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// sockets measures and prints one lane, each socket in turn with requests.
func (b *bench) sockets(ctx context.Context, lines [][]byte, o options, rules, lane string) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	port, err := freePort()
	if err != nil {
		return err
	}
	c, err := spawn(ctx, b.program, rules, append([]string{"--input", "unix://" + path, "--input", "syslog+tcp://" + port + "?format=auto"}, b.more...)...)
	if err != nil {
		return err
	}
	defer c.stop()
	p := b.sender(c)
	bodies := p.bodies(append(bytes.Join(lines, []byte{'\n'}), '\n'))
	lengths := make([][]byte, len(bodies))
	for i, body := range bodies {
		for line := range bytes.Lines(body) {
			line = bytes.TrimSuffix(line, []byte{'\n'})
			lengths[i] = append(append(strconv.AppendInt(lengths[i], int64(len(line)), 10), ' '), line...)
		}
	}
	for _, s := range []socket{
		{"unix", "unix", path, bodies, true}, {"syslog, lines", "tcp", port, bodies, false}, {"syslog, lengths", "tcp", port, lengths, false},
	} {
		requests := func() (float64, error) {
			did, _, err := c.load(ctx, p, bodies, o.each/(2*rounds))
			return float64(did.events) / did.cpu.Seconds(), err
		}
		sent := func() (float64, error) {
			did, err := c.loadSocket(ctx, s, int64(len(lines)), b.post.connections, o.each/(2*rounds))
			p.accepted.Add(did.events)
			return float64(did.events) / did.cpu.Seconds(), err
		}
		asked, pushed, shares, err := alternate(requests, sent, func(r, s float64) float64 { return s / r })
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		share, verdict := quantile(shares, 2), ""
		if s.bar {
			verdict = fmt.Sprintf(" %6.2f %s", minSocketShare, b.holds(share >= minSocketShare))
		}
		b.printf("%-25s %-16s %14.0f %14.0f %8.2f  %4.2f-%4.2f%s\n", lane, s.name, quantile(asked, 2), quantile(pushed, 2), share,
			quantile(shares, 1), quantile(shares, 3), verdict)
	}
	return nil
}

// loadSocket sends all events to a socket, over and over for the given time, over so many
// connections, and returns what that cost the daemon up to the last event.
func (c *child) loadSocket(ctx context.Context, s socket, events int64, connections int, each time.Duration) (did spent, err error) {
	first, err := c.begin(ctx)
	if err != nil {
		return did, err
	}
	errs := make([]error, connections)
	times := make([]int64, connections)
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range connections {
		wg.Go(func() {
			conn, err := net.Dial(s.network, s.address)
			if err != nil {
				errs[i] = err
				return
			}
			defer conn.Close()
			for times[i] == 0 || time.Since(begin) < each {
				for _, part := range s.parts {
					if _, err := conn.Write(part); err != nil {
						errs[i] = err
						return
					}
				}
				times[i]++
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return did, err
	}
	sent := int64(0)
	for _, n := range times {
		sent += n * events
	}
	last, err := c.done(ctx, first.events+sent)
	return spent{events: last.events - first.events, results: last.results - first.results, cpu: last.cpu - first.cpu}, err
}
