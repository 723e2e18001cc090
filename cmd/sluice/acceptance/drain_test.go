package acceptance

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSIGTERMLosesNothingThatWasAccepted(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	out := filepath.Join(dir, "out.ndjson")
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+out, "--drain-timeout", "60")
	const bodies, lines = 40, 500
	body := strings.Repeat(event("evil")+"\n", lines)
	for range bodies {
		if a := d.do("POST", "/api/v1/events", body); a.status != 200 {
			t.Fatalf("push: %d %s", a.status, a.body)
		}
	}
	d.stop()
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(raw), "\n"); got != bodies*lines {
		t.Errorf("%d results, want %d", got, bodies*lines)
	}
}

// unread makes a named pipe that somebody holds open and never reads: a sink that
// is stuck once the pipe is full.
func unread(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "stuck")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	reader, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
	return path
}

func TestACommitIsAnsweredWhenTheDrainEnds(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+unread(t, dir), "--drain-timeout", "1")
	if a := d.do("POST", "/api/v1/events", strings.Repeat(event("evil")+"\n", 2000)); a.status != 200 {
		t.Fatalf("push: %d %s", a.status, a.body)
	}
	answered := make(chan answer, 1)
	go func() {
		defer close(answered)
		answered <- d.do("POST", "/api/v1/events?commit=true", event("evil"))
	}()
	d.await("the line", func() bool { return d.metric("svc_events_processed_total") == 2001 })
	d.stop()
	a := <-answered
	if a.status != 503 || !strings.Contains(a.body, `"error":"commit deadline passed","accepted":1`) {
		t.Errorf("%d %s, want 503 and how many lines were accepted", a.status, a.body)
	}
	left := d.logged("items left at the end of the drain")
	all := d.logged("drain timeout exceeded")
	if left == nil || all == nil || left["items"] != all["undelivered"] || left["items"].(float64) < 1 {
		t.Errorf("warnings %v and %v, want both with the same number of items", left, all)
	}
}

// An upload that is idle when the daemon ends does not keep it, and learns how much
// of it came in.
func TestAnIdleUploadIsAnsweredInADrain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, head, sent string }{
		{"a chunked one", "Transfer-Encoding: chunked", "17\r\n{\"a\":\"evil\"}\n{\"a\":\"x\"}\n\r\n"},
		{"where a chunk begins", "Transfer-Encoding: chunked", "17\r\n{\"a\":\"evil\"}\n{\"a\":\"x\"}\n\r\nff"},
		{"a counted one", "Content-Length: 1000", "{\"a\":\"evil\"}\n{\"a\":\"x\"}\n{"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "a.yml", rule("A", "evil"))
			d := start(t, "-r", dir, "--input", "http", "--drain-timeout", "60")
			c, err := net.Dial("tcp", d.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprintf(c, "POST /api/v1/events HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n%s", tc.head, tc.sent)
			d.await("both lines", func() bool { return d.metric("svc_events_processed_total") == 2 })
			d.stop()
			raw, _ := io.ReadAll(c)
			if got := string(raw); !strings.HasPrefix(got, "HTTP/1.1 503") || !strings.Contains(got, `{"error":"event channel closed","accepted":2}`) {
				t.Errorf("got %q, want 503 and how many lines were accepted", got)
			}
		})
	}
}

// A client may close its side when it has sent everything, and wait.
func TestACommitIsAnsweredOnAHalfClosedConnection(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	pipe := unread(t, dir)
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+pipe, "--drain-timeout", "60")
	if a := d.do("POST", "/api/v1/events", strings.Repeat(event("evil")+"\n", 2000)); a.status != 200 {
		t.Fatalf("push: %d %s", a.status, a.body)
	}
	c, err := net.Dial("tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := event("evil")
	fmt.Fprintf(c, "POST /api/v1/events?commit=true HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	d.await("the line", func() bool { return d.metric("svc_events_processed_total") == 2001 })
	// The sink goes on now.
	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	go func() { _, _ = io.Copy(io.Discard, f) }()
	raw, _ := io.ReadAll(c)
	if got := string(raw); !strings.HasPrefix(got, "HTTP/1.1 200") || !strings.Contains(got, `{"accepted":1}`) {
		t.Errorf("got %q, want 200", got)
	}
	d.stop()
}

// The last line of the log accounts for every line that was accepted, with those
// that the destination has got.
func TestTheLastWordCountsWhatWasNotDelivered(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	pipe := unread(t, dir)
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+pipe, "--drain-timeout", "1", "--buffer-size", "512")
	answers := make(chan answer, 10)
	for range cap(answers) {
		go func() { answers <- d.do("POST", "/api/v1/events", strings.Repeat(event("evil")+"\n", 3000)) }()
	}
	d.await("the input to be full", func() bool { return d.metric("svc_back_pressure_events_total") > 0 })
	d.stop()
	accepted := 0.0
	for range cap(answers) {
		var body struct{ Accepted float64 }
		if err := json.Unmarshal([]byte((<-answers).body), &body); err != nil {
			t.Fatal(err)
		}
		accepted += body.Accepted
	}
	last := d.logged("stopped")
	if last == nil {
		t.Fatal("there is no last line")
	}
	if last["dead_lettered"] != 0.0 || last["dropped"] != 0.0 {
		t.Errorf("the log says %v, want nothing dead or dropped", last)
	}
	if delivered := float64(wholeLinesIn(t, pipe)); last["accepted"] != accepted || last["undelivered"].(float64)+delivered != accepted {
		t.Errorf("accepted %v, delivered %v, the log says %v, want every line counted", accepted, delivered, last)
	}
}

// wholeLinesIn counts the lines that wait in a named pipe, without the beginning of
// one that did not fit.
func wholeLinesIn(t *testing.T, path string) int {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_ = f.SetReadDeadline(time.Now().Add(time.Second))
	raw, _ := io.ReadAll(f)
	return strings.Count(string(raw), "\n")
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	for _, tc := range []struct {
		second syscall.Signal
		code   int
	}{{syscall.SIGTERM, 143}, {syscall.SIGINT, 130}} {
		t.Run(tc.second.String(), func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "rules/a.yml", rule("A", "evil"))
			d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+unread(t, dir), "--drain-timeout", "60", "--sink-retry-max", "1000000")
			a := d.do("POST", "/api/v1/events", strings.Repeat(event("evil")+"\n", 5000))
			if a.status != 200 {
				t.Fatalf("push: %d %s", a.status, a.body)
			}
			d.signal(syscall.SIGTERM)
			d.awaitLog("shutting down")
			for alive := true; alive; { // those within an echo of the first do not count
				_ = d.cmd.Process.Signal(tc.second)
				select {
				case <-d.done:
					alive = false
				case <-time.After(50 * time.Millisecond):
				}
			}
			if code := d.wait(); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
		})
	}
}
