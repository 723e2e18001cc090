package acceptance

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// deaf listens on a socket, takes one connection, and reads nothing before wake is called.
// From then on it reads to the end, and gives the lines when the connection has ended.
func deaf(t *testing.T) (path string, wake func() (lines func() []string)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	conns := make(chan net.Conn, 1)
	go func() {
		if conn, err := l.Accept(); err == nil {
			conns <- conn
		}
	}()
	return path, func() func() []string {
		conn := <-conns
		t.Cleanup(func() { _ = conn.Close() })
		all := make(chan []string, 1)
		go func() {
			var lines []string
			for in := bufio.NewScanner(conn); in.Scan(); {
				lines = append(lines, in.Text())
			}
			all <- lines
		}()
		return func() []string { return <-all }
	}
}

// standstillRoom is what the queues of these tests hold, and standstillBeside the memory
// that everything else may take.
const (
	standstillRoom   = 8 << 20
	standstillBeside = 100 << 20
)

// evils are a body of n events that a rule meets, from number from on.
func evils(from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, event(fmt.Sprintf("evil %07d %s", from+i, strings.Repeat("x", 200))))
	}
	return b.String()
}

// rising reads the numbers of the events in the results, which must rise by step, or by any
// number above 0 when step is 0.
func (d *daemon) rising(results []string, step int) {
	d.t.Helper()
	last := -1
	for _, r := range results {
		_, text, _ := strings.Cut(r, `"value":"evil `)
		var n int
		if _, err := fmt.Sscanf(text, "%d", &n); err != nil {
			d.t.Fatalf("result %s: %v", r, err)
		}
		if n <= last || step > 0 && n != last+step {
			d.t.Fatalf("event %d follows on event %d", n, last)
		}
		last = n
	}
}

func TestASinkThatStandsStillAndDropsHurtsNobody(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	socket, wake := deaf(t)
	out := filepath.Join(dir, "out.ndjson")
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--buffer-bytes", fmt.Sprint(standstillRoom),
		"--output", "unix://"+socket+"?on_full=drop", "--output", "file://"+out, "--drain-timeout", "60")
	const bodies, lines = 60, 2000
	for i := range bodies {
		if a := d.do("POST", "/api/v1/events", evils(i*lines, lines)); a.status != 200 {
			t.Fatalf("push: %d %s", a.status, a.body)
		}
	}
	const all = bodies * lines
	d.await("results in the file", func() bool {
		raw, err := os.ReadFile(out)
		return err == nil && strings.Count(string(raw), "\n") == all
	})
	for _, path := range []string{"/healthz", "/readyz", "/api/v1/status", "/api/v1/actors/dispatch", "/metrics"} {
		if a := d.get(path); a.status != 200 {
			t.Errorf("%s answers %d while a sink stands still", path, a.status)
		}
	}
	if used := d.metric("process_resident_memory_bytes"); used > 3*standstillRoom+standstillBeside && len(buildFlags) == 0 {
		t.Errorf("%.0f MiB of memory, want at most the queues' and 100 MiB", used/(1<<20))
	}
	dropped := int(d.metric(`svc_sink_dropped_total{sink="unix"}`))
	got := wake()
	d.stop()
	results := got()
	d.rising(results, 0)
	if len(results)+dropped != all || dropped == 0 {
		t.Errorf("%d results arrived and %d were dropped, want %d together", len(results), dropped, all)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	d.rising(strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n"), 1)
}

func TestASinkThatStandsStillAndBlocksLosesNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	socket, wake := deaf(t)
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--buffer-bytes", fmt.Sprint(standstillRoom),
		"--output", "unix://"+socket, "--drain-timeout", "60")
	const bodies, lines = 60, 2000
	pushed := make(chan error, 1)
	go func() { // held back from some body on
		for i := range bodies {
			a, err := http.Post("http://"+d.addr+"/api/v1/events", "application/x-ndjson", strings.NewReader(evils(i*lines, lines)))
			if err == nil {
				err = a.Body.Close()
			}
			if err == nil && a.StatusCode != http.StatusOK {
				err = fmt.Errorf("body %d: %s", i, a.Status)
			}
			if err != nil {
				pushed <- err
				return
			}
		}
		pushed <- nil
	}()
	d.awaitLog("input queue full, producer waits")
	d.await("dispatch to wait for the sink", func() bool {
		return strings.Contains(d.get("/api/v1/actors/dispatch").body, `"waiting_for":["unix"]`)
	})
	for _, path := range []string{"/healthz", "/readyz", "/api/v1/status", "/api/v1/correlations/state"} {
		if a := d.get(path); a.status != 200 {
			t.Errorf("%s answers %d while a sink stands still", path, a.status)
		}
	}
	if a := d.do("POST", "/api/v1/reload", ""); a.status/100 != 2 {
		t.Errorf("a reload answers %d %s", a.status, a.body)
	}
	if used := d.metric("process_resident_memory_bytes"); used > 4*standstillRoom+standstillBeside && len(buildFlags) == 0 {
		t.Errorf("%.0f MiB of memory, want at most the queues' and 100 MiB", used/(1<<20))
	}
	got := wake()
	if err := <-pushed; err != nil {
		t.Fatal(err)
	}
	d.stop()
	results := got()
	d.rising(results, 1)
	if len(results) != bodies*lines {
		t.Errorf("%d results arrived, want one of each of %d events", len(results), bodies*lines)
	}
}
