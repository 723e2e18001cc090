package acceptance

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Clients that begin and do not go on are let go after the time they have, and nobody
// else notices them.
func TestSlowClientsAreLetGoAndHurtNobody(t *testing.T) {
	t.Parallel() // it waits for their time
	const clients = 200
	rules := write(t, t.TempDir(), "a.yml", rule("A", "evil"))
	d := start(t, "-r", rules, "--input", "http")
	begun := time.Now()
	ended := make(chan time.Duration, clients)
	for i := range clients {
		c, err := net.Dial("tcp", d.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		text := ""
		if i%2 == 0 {
			text = "POST /api/v1/events HTTP/1.1\r\nHost: x\r\nX-Slow: "
		}
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		go func() {
			_ = c.SetReadDeadline(time.Now().Add(patience))
			_, _ = io.Copy(io.Discard, c) // until the daemon lets go
			ended <- time.Since(begun)
		}()
	}
	for range 20 {
		if a := d.get("/healthz"); a.status != 200 {
			t.Errorf("a probe beside them: %d %s", a.status, a.body)
		}
	}
	d.push(event("evil"))
	for range clients {
		if took := <-ended; took < 9*time.Second || took >= patience {
			t.Fatalf("a client was let go after %s, want 10 seconds", took)
		}
	}
	if got := d.metric(`svc_api_connections_closed_total{reason="header_timeout"}`); got != clients {
		t.Errorf("%v connections were counted, want %d", got, clients)
	}
	d.stop()
}

// What is too large is refused with a status, and the daemon serves on.
func TestHeadersAndBodiesHaveTheirBounds(t *testing.T) {
	rules := write(t, t.TempDir(), "a.yml", rule("A", "evil"))
	d := start(t, "-r", rules, "--input", "http")
	body := func(n int) string {
		const head, tail = `{"mailbox_capacity":50`, `}`
		return head + strings.Repeat(" ", n-len(head)-len(tail)) + tail
	}
	for _, tc := range []struct {
		name, head, body string
		status           int
		want             string
	}{
		{"60 KiB of headers", strings.Repeat("X-A: "+strings.Repeat("a", 1017)+"\r\n", 60), "", 200, `"status":"running"`},
		{"65 KiB of headers", strings.Repeat("X-A: "+strings.Repeat("a", 1017)+"\r\n", 65), "", 431, `{"error":"request header fields too large"}`},
		{"2 MiB of a body", "", body(2 << 20), 200, `"capacity":50`},
		{"a byte more", "", body(2<<20 + 1), 413, `{"error":"request body exceeds maximum size","max_bytes":2097152}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := net.Dial("tcp", d.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(patience))
			target := "GET /api/v1/status"
			if tc.body != "" {
				target = "PATCH /api/v1/actors/parse"
			}
			go func() { // an answer may come before the end of it
				_, _ = fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", target, len(tc.body), tc.head, tc.body)
			}()
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != tc.status || !strings.Contains(string(got), tc.want) {
				t.Errorf("%d %s, want %d with %s", resp.StatusCode, got, tc.status, tc.want)
			}
		})
	}
	d.stop()
}
