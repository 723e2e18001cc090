package acceptance

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/certs/certstest"
)

// socketPath is short enough for a socket.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sluice") //nolint:usetesting // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "events.sock")
}

// connect connects to the address of an input.
func connect(t *testing.T, network, address string) net.Conn {
	t.Helper()
	for begin := time.Now(); ; {
		c, err := net.Dial(network, address)
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
			return c
		}
		if !errors.Is(err, syscall.EAGAIN) || time.Since(begin) > patience { // many wait to be accepted
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

func send(t *testing.T, c io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// processed waits until the daemon has taken so many events.
func (d *daemon) processed(n int) {
	d.t.Helper()
	d.await(fmt.Sprintf("event %d", n), func() bool { return d.figures().processed >= n })
}

func TestEventsComeOverAUnixSocket(t *testing.T) {
	rules := write(t, t.TempDir(), "a.yml", rule("A", "evil"))
	path := socketPath(t)
	dead := filepath.Join(t.TempDir(), "dead.ndjson")
	args := []string{"-r", rules, "--input", "unix://" + path, "--input-format", "json", "--dlq", "file://" + dead}
	d := start(t, args...)
	first, second := connect(t, "unix", path), connect(t, "unix", path)
	send(t, first, event("evil one")+"\nnot json\n\n"+event("evil")[:5])
	send(t, second, event("evil two")+"\r\n"+event("evil fragment"))
	_ = second.Close()
	d.processed(3)
	send(t, first, event("evil")[5:]+"\n"+strings.Repeat("x", 1<<20+1)+"\n"+event("good")+"\n")
	d.processed(5)
	d.results(4)
	if got := d.figures(); got.errors != 2 {
		t.Errorf("%d parse errors, want 2", got.errors)
	}
	other := launchOutcome(t, args...)
	if want := "unix socket " + path + " is already in use by a running process"; other.code != 3 || !strings.Contains(other.stderr, want) {
		t.Errorf("a second daemon: code %d and %s, want 3 and %q", other.code, other.stderr, want)
	}
	d.stop()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after the end: got %v, want the file gone", err)
	}
	raw, err := os.ReadFile(dead)
	if err != nil || strings.Count(string(raw), "\n") != 2 || !strings.Contains(string(raw), `"event exceeds maximum size (1048576 bytes)"`) {
		t.Errorf("dead letters: %v\n%.300s", err, raw)
	}
}

func TestASocketThatACrashLeftIsReplaced(t *testing.T) {
	rules := write(t, t.TempDir(), "a.yml", rule("A", "evil"))
	path := socketPath(t)
	d := start(t, "-r", rules, "--input", "unix://"+path)
	d.kill()
	d = start(t, "-r", rules, "--input", "unix://"+path)
	d.awaitLog("stale socket file removed")
	send(t, connect(t, "unix", path), event("evil")+"\n")
	d.results(1)
	d.stop()
	if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := launchOutcome(t, "-r", rules, "--input", "unix://"+path); got.code != 3 || !strings.Contains(got.stderr, "a file that is not a socket is in the way") {
		t.Errorf("another file: code %d and %s", got.code, got.stderr)
	}
	gone := filepath.Join(t.TempDir(), "gone")
	if got := launchOutcome(t, "-r", rules, "--input", "unix://"+gone+"/in"); got.code != 3 || !strings.Contains(got.stderr, "bind socket "+gone+"/in: stat "+gone+": no such file or directory") {
		t.Errorf("a directory that is not there: code %d and %s", got.code, got.stderr)
	}
}

// launchOutcome runs a daemon that ends by itself.
func launchOutcome(t *testing.T, args ...string) outcome {
	t.Helper()
	return sluice(t, "", append([]string{"engine", "daemon", "--api-addr", "127.0.0.1:0"}, args...)...)
}

// A client that sends all it has and leaves loses nothing, however full the queue is.
func TestAClientThatSendsAndLeavesLosesNothing(t *testing.T) {
	rules := write(t, t.TempDir(), "a.yml", rule("A", "evil"))
	path := socketPath(t)
	d := start(t, "-r", rules, "--input", "unix://"+path, "--buffer-size", "10", "--input", "syslog+tcp://127.0.0.1:0?format=json")
	const lines = 50_000
	text := strings.Repeat(event("good")+"\n", lines)
	for _, c := range []net.Conn{connect(t, "unix", path), connect(t, "tcp", d.listening("syslog+tcp"))} {
		send(t, c, text)
		_ = c.Close()
	}
	d.processed(2 * lines)
	if d.metric("svc_back_pressure_events_total") == 0 {
		t.Error("no line had to wait for room")
	}
	d.stop()
}

// listening is the address of an input, by its scheme.
func (d *daemon) listening(scheme string) (address string) {
	d.t.Helper()
	d.await("the address of "+scheme, func() bool {
		for _, line := range d.stderr.lines() {
			var entry struct {
				Fields struct{ Message, Source string }
			}
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Fields.Message == "listening for events" {
				if rest, ok := strings.CutPrefix(entry.Fields.Source, scheme+"://"); ok {
					address = rest
					return true
				}
			}
		}
		return false
	})
	return address
}

func TestSyslogComesOverTheNetworkInSeveralFormats(t *testing.T) {
	authority := certstest.New(t, "syslog")
	cert, key := authority.Issue("localhost", time.Hour)
	rules := write(t, t.TempDir(), "a.yml", "title: A\ndetection: {sel: {appname: sudo}, cef: {act: deny}, condition: sel or cef}\n")
	d := start(t, "-r", rules, "--include-event", "--input", "syslog+udp://127.0.0.1:0", "--input", "syslog+tcp://127.0.0.1:0?format=cef",
		"--input", "syslog+tls://127.0.0.1:0", "--syslog-tls-cert", cert, "--syslog-tls-key", key)
	const message = "<34>1 2026-03-01T10:20:30Z web01 sudo - - - user\nran a shell"
	send(t, connect(t, "udp", d.listening("syslog+udp")), message+"\n")
	d.results(1)
	send(t, connect(t, "tcp", d.listening("syslog+tcp")), "<134>Mar 1 10:00:00 fw CEF:0|Acme|FW|3.2|42|Blocked|7|act=deny\n<134>x\n")
	d.results(2)
	c := tlsClient(t, authority, d.listening("syslog+tls"))
	send(t, c, fmt.Sprintf("%d %s<34>Jan  5 03:04:05 gw1 sudo[991]: a line\n", len(message), message))
	results := d.results(4)
	for i, want := range []string{`"_raw":"user\nran a shell"`, `"deviceVendor":"Acme"`, `"_raw":"user\nran a shell"`, `"procid":"991"`} {
		if !strings.Contains(results[i], want) {
			t.Errorf("result %d lacks %s: %s", i, want, results[i])
		}
	}
	for series, want := range map[string]float64{
		`svc_syslog_messages_total{transport="udp"}`: 1, `svc_syslog_messages_total{transport="tcp"}`: 2, `svc_syslog_messages_total{transport="tls"}`: 2,
		`svc_input_connections{input="syslog_tls"}`: 1, `svc_input_connections{input="unix"}`: 0, `svc_syslog_framing_errors_total{reason="count"}`: 0,
		`svc_syslog_datagrams_dropped_total`: 0, `svc_events_parse_errors_total`: 1,
	} {
		if got := d.metric(series); got != want {
			t.Errorf("%s is %g, want %g", series, got, want)
		}
	}
	d.stop()
}

func TestSocketsThatCannotBeOpenedRefuseTheStart(t *testing.T) {
	rules := write(t, t.TempDir(), "a.yml", rule("A", "evil"))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"TLS without a certificate", []string{"--input", "syslog+tls://127.0.0.1:0"}, "--syslog-tls-cert"},
		{"a certificate without its key", []string{"--input", "syslog+udp://127.0.0.1:0", "--syslog-tls-cert", "x"}, "a certificate and its key belong together"},
		{"a port that is taken", []string{"--input", "syslog+tcp://" + taken.Addr().String()}, "address already in use"},
		{"no port", []string{"--input", "syslog+udp://127.0.0.1"}, "the address must be host:port"},
		{"an unknown parameter", []string{"--input", "unix:///s.sock?max_conections=1"}, "did you mean 'max_connections'?"},
		{"a relative path", []string{"--input", "unix://s.sock"}, "must be absolute"},
		{"a directory that is missing", []string{"--input", "unix:///nowhere/s.sock"}, "no such file or directory"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := launchOutcome(t, append([]string{"-r", rules}, tc.args...)...); got.code != 3 || !strings.Contains(got.stderr, tc.want) {
				t.Errorf("code %d and %s, want 3 and %q", got.code, got.stderr, tc.want)
			}
		})
	}
}

// Connections that are idle, and those that are slow, cost what their buffers need.
func TestManyConnectionsCostNoMoreThanTheirBuffers(t *testing.T) {
	const idle, slow, bound = 10_000, 1_000, 12 << 10
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Cur < idle+slow+500 {
		t.Skipf("%d open files are allowed here: ulimit -n %d lets this test run", files.Cur, 2*idle)
	}
	rules := write(t, t.TempDir(), "a.yml", rule("A", "evil"))
	for _, input := range []string{"unix", "syslog+tcp"} {
		t.Run(input, func(t *testing.T) {
			network, address := "tcp", "127.0.0.1:0"
			if input == "unix" {
				network, address = "unix", socketPath(t)
			}
			d := start(t, "-r", rules, "--input", fmt.Sprintf("%s://%s?format=json&max_connections=%d", input, address, idle+slow))
			if network == "tcp" {
				address = d.listening(input)
			}
			series := map[string]string{"unix": `svc_input_connections{input="unix"}`, "syslog+tcp": `svc_input_connections{input="syslog_tcp"}`}[input]
			before := d.resident()
			var slowOnes []net.Conn
			for i := range idle + slow {
				c := connect(t, network, address)
				if i%11 == 0 {
					slowOnes = append(slowOnes, c)
				} else if i%2 == 0 {
					send(t, c, event("good")+"\n") // and is idle from then on
				}
			}
			d.await("the connections", func() bool { return d.metric(series) == idle+slow })
			had := d.figures().processed
			line := event("evil") + "\n"
			for i := range line {
				for _, c := range slowOnes {
					send(t, c, line[i:i+1])
				}
			}
			d.processed(had + len(slowOnes))
			each := (d.resident() - before) / (idle + slow)
			t.Logf("%d bytes for each of %d connections, %d of them slow; %d bytes before", each, idle+slow, slow, before)
			if each > bound && !watched { // the race detector has memory of its own
				t.Errorf("%d bytes for each connection, want %d at most", each, bound)
			}
			if refused := d.metric(strings.Replace(series, "svc_input_connections", "svc_input_connections_refused_total", 1)); refused != 0 {
				t.Errorf("%g connections were refused", refused)
			}
			d.stop()
		})
	}
}

// tlsClient connects to an input that speaks TLS.
func tlsClient(t *testing.T, authority *certstest.Authority, address string) net.Conn {
	t.Helper()
	c, err := tls.Dial("tcp", address, &tls.Config{RootCAs: authority.Pool, ServerName: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
