package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// child is a daemon that this process started.
type child struct {
	cmd  *exec.Cmd
	addr string
	access
}

// spawn starts a daemon that takes events over HTTP and throws its results away.
// It returns when the daemon serves.
func spawn(ctx context.Context, program, rules string, more ...string) (*child, error) {
	return spawnBy(ctx, access{}, program, rules, more...)
}

// spawnBy is spawn for a daemon that is spoken to in a certain way.
func spawnBy(ctx context.Context, by access, program, rules string, more ...string) (*child, error) {
	return spawnWith(ctx, by, program, rules, append([]string{"--output", "file://" + os.DevNull}, more...)...)
}

// spawnWith starts a daemon that takes events over HTTP. What becomes of its results, the
// arguments say.
func spawnWith(ctx context.Context, by access, program, rules string, more ...string) (*child, error) {
	args := append([]string{"engine", "daemon", "--rules", rules, "--input", "http", "--api-addr", "127.0.0.1:0"}, more...)
	c := &child{cmd: exec.CommandContext(ctx, program, args...), access: by}
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	addr := make(chan string, 1)
	go func() {
		defer close(addr)
		follow(stderr, addr)
	}()
	if c.addr = <-addr; c.addr == "" {
		return nil, fmt.Errorf("the daemon did not serve: %w", c.cmd.Wait())
	}
	if err := waitReady(ctx, c.access, c.addr, 30*time.Second); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// follow reads the daemon's log to its end, tells the address once and repeats
// errors.
func follow(log io.Reader, addr chan<- string) {
	scan := bufio.NewScanner(log)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var entry struct {
			Level  string
			Fields struct{ Message, Addr string }
		}
		if json.Unmarshal(scan.Bytes(), &entry) != nil || entry.Level == "ERROR" {
			fmt.Fprintf(os.Stderr, "%s\n", scan.Bytes())
			continue
		}
		if entry.Fields.Message == "API server listening" {
			addr <- entry.Fields.Addr
		}
	}
	_, _ = io.Copy(io.Discard, log)
}

// stop ends the daemon and waits for it.
func (c *child) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	_ = c.cmd.Wait()
}

// spent is what a daemon has done so far.
type spent struct {
	events  int64
	results int64
	cpu     time.Duration
	waiting int64 // sets, for a sink
}

// spent reads the daemon's own figures, which /metrics takes at one moment.
func (c *child) spent(ctx context.Context) (spent, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url(c.addr, "/metrics"), nil)
	if err != nil {
		return spent{}, err
	}
	client := c.client(1)
	defer client.CloseIdleConnections()
	resp, err := c.ask(client, req)
	if err != nil {
		return spent{}, err
	}
	defer resp.Body.Close()
	var s spent
	found := 0
	for scan := bufio.NewScanner(resp.Body); scan.Scan(); {
		name, text, _ := strings.Cut(scan.Text(), " ")
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		switch name {
		case "svc_events_processed_total":
			s.events = int64(v)
		case "svc_detection_matches_total":
			s.results = int64(v)
		case "process_cpu_seconds_total":
			s.cpu = time.Duration(v * float64(time.Second))
		default:
			if strings.HasPrefix(name, "svc_sink_queue_depth{") {
				s.waiting += int64(v)
			}
			continue
		}
		found++
	}
	if found < 3 {
		return spent{}, fmt.Errorf("%s shows neither events nor processor time", req.URL)
	}
	return s, nil
}

// begin returns the daemon's figures before a load. What the answer cost is among them.
func (c *child) begin(ctx context.Context) (spent, error) {
	s, err := c.spent(ctx)
	if used, ok := processorTime(c.cmd.Process.Pid); ok {
		s.cpu = used
	}
	return s, err
}

// done waits until the daemon has processed all events, and no result waits for a sink, and
// returns its figures. What this answer costs is not among them.
func (c *child) done(ctx context.Context, events int64) (spent, error) {
	for {
		used, ok, err := c.rest(ctx)
		if err != nil {
			return spent{}, err
		}
		s, err := c.spent(ctx)
		if ok {
			s.cpu = used
		}
		if err != nil || s.events >= events && s.waiting == 0 {
			return s, err
		}
	}
}

// rest waits until the daemon has little to do, or a second is over, and returns the processor
// time that it has used, if the system tells. A daemon that was asked all the time would spend
// more on its answers than on the last results.
func (c *child) rest(ctx context.Context) (used time.Duration, ok bool, err error) {
	const pause, little = 20 * time.Millisecond, time.Millisecond
	used, ok = processorTime(c.cmd.Process.Pid)
	for range time.Second / pause {
		select {
		case <-ctx.Done():
			return used, ok, ctx.Err()
		case <-time.After(pause):
		}
		before := used
		if used, ok = processorTime(c.cmd.Process.Pid); used-before < little {
			break
		}
	}
	return used, ok, nil
}

// load posts the bodies, all of them once and then for the given time, and
// returns what that cost the daemon, up to the last event it accepted.
func (c *child) load(ctx context.Context, p *post, bodies [][]byte, each time.Duration) (did spent, took time.Duration, err error) {
	if _, err := c.done(ctx, p.accepted.Load()); err != nil {
		return did, 0, err
	}
	first, err := c.begin(ctx)
	if err != nil {
		return did, 0, err
	}
	begin := time.Now()
	if err := p.send(ctx, bodies, func(round int) bool { return round == 0 || time.Since(begin) < each }); err != nil {
		return did, 0, err
	}
	last, err := c.done(ctx, p.accepted.Load())
	if err != nil {
		return did, 0, err
	}
	return spent{events: last.events - first.events, results: last.results - first.results, cpu: last.cpu - first.cpu}, time.Since(begin), nil
}
