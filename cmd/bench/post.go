package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// post sends the lines of a file to POST /api/v1/events.
type post struct {
	addr, file    string
	lines, repeat int
	connections   int
	commit        bool
	contentType   string
	wait          time.Duration
	accepted      atomic.Int64

	records map[*byte]int64 // of bodies that are requests of OTLP; nil for bodies of events
	grpc    bool            // which go over gRPC
	access
}

// The content types of bodies of lines and of arrays.
const (
	typeNDJSON = "application/x-ndjson"
	typeJSON   = "application/json"
)

// runPost sends a file and prints the rate.
func runPost(ctx context.Context, fs *flag.FlagSet, args []string, stdout io.Writer) error {
	p := post{contentType: typeNDJSON}
	fs.StringVar(&p.addr, "addr", "127.0.0.1:9090", "host:port of the daemon's API")
	fs.StringVar(&p.file, "file", "-", "NDJSON events, plain or .gz; - is standard input")
	fs.IntVar(&p.lines, "lines", 500, "lines in one request body")
	fs.IntVar(&p.repeat, "repeat", 1, "how often to send the file")
	fs.IntVar(&p.connections, "connections", 2, "requests under way at once; order between them is not kept")
	fs.BoolVar(&p.commit, "commit", false, "let every request wait until its events have ended at every sink")
	fs.DurationVar(&p.wait, "wait", 0, "how long to wait for the daemon to become ready")
	quiet := fs.Bool("quiet", false, "print nothing about the rate")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	sent, took, err := p.run(ctx)
	if err == nil && !*quiet {
		fmt.Fprintf(stdout, "%d events in %s, %.0f events/s\n", sent, took.Round(time.Millisecond), float64(sent)/took.Seconds())
	}
	return err
}

// run returns how many events the daemon accepted and how long that took.
func (p *post) run(ctx context.Context) (int64, time.Duration, error) {
	if p.lines < 1 || p.repeat < 1 || p.connections < 1 {
		return 0, 0, fmt.Errorf("-lines, -repeat and -connections must be at least 1")
	}
	data, err := readEvents(p.file)
	if err != nil {
		return 0, 0, err
	}
	bodies := p.bodies(data)
	if err := waitReady(ctx, p.access, p.addr, p.wait); err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	err = p.send(ctx, bodies, func(round int) bool { return round < p.repeat })
	return p.accepted.Load(), time.Since(begin), err
}

// bodies cuts data into requests of p.lines lines.
func (p *post) bodies(data []byte) [][]byte {
	var out [][]byte
	for len(data) > 0 {
		end := 0
		for n := 0; n < p.lines && end < len(data); n++ {
			i := bytes.IndexByte(data[end:], '\n')
			if i < 0 {
				end = len(data)
				break
			}
			end += i + 1
		}
		out = append(out, data[:end])
		data = data[end:]
	}
	return out
}

// send posts the bodies over and over while more(round) holds.
func (p *post) send(ctx context.Context, bodies [][]byte, more func(round int) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	client := p.client(p.connections)
	defer client.CloseIdleConnections()
	if p.grpc {
		overHTTP2(client)
	}
	work := make(chan []byte)
	var wg sync.WaitGroup
	for range p.connections {
		wg.Go(func() {
			for body := range work {
				if err := p.sendOne(ctx, client, body); err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for round := 0; len(bodies) > 0 && more(round); round++ {
		for _, body := range bodies {
			select {
			case work <- body:
			case <-ctx.Done():
				break feed
			}
		}
	}
	close(work)
	wg.Wait()
	return context.Cause(ctx)
}

func (p *post) sendOne(ctx context.Context, client *http.Client, body []byte) error {
	if p.records != nil {
		return p.export(ctx, client, body)
	}
	url := p.url(p.addr, "/api/v1/events")
	if p.commit {
		url += "?commit=true"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", p.contentType)
	resp, err := p.ask(client, req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("POST %s: %s: %s", url, resp.Status, bytes.TrimSpace(answer))
	}
	var ok struct {
		Accepted int64 `json:"accepted"`
	}
	if err := json.Unmarshal(answer, &ok); err != nil {
		return fmt.Errorf("POST %s: %w", url, err)
	}
	p.accepted.Add(ok.Accepted)
	return nil
}

// readEvents reads a whole file, inflating it when its name ends in .gz.
func readEvents(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !strings.HasSuffix(name, ".gz") {
		return io.ReadAll(f)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("inflate %s: %w", name, err)
	}
	return io.ReadAll(z)
}

// waitReady asks /readyz until it answers 200 or the time is up. No time means
// no question.
func waitReady(ctx context.Context, by access, addr string, limit time.Duration) error {
	if limit <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	client := by.client(1)
	defer client.CloseIdleConnections()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, by.url(addr, "/readyz"), nil)
		if err != nil {
			return err
		}
		resp, err := by.ask(client, req)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s", addr, limit)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
