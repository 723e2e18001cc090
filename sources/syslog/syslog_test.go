package syslog

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/logtest"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/accept"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const year = 365 * 24 * time.Hour

// input is a source under test.
type input struct {
	*Source
	in  *sourcetest.Intake
	log *logtest.Buffer
	reg *prometheus.Registry
}

func options(t *testing.T, files Files) (Options, *logtest.Buffer, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewRegistry()
	metrics, err := NewMetrics(reg)
	if err != nil {
		t.Fatal(err)
	}
	connections, err := accept.NewMetrics(reg)
	if err != nil {
		t.Fatal(err)
	}
	log := new(logtest.Buffer)
	c := DefaultConfig()
	c.TLS = files
	return Options{Config: c, Log: slog.New(slog.NewTextHandler(log, nil)), Metrics: metrics, Connections: connections}, log, reg
}

// open listens on a free port.
func open(t *testing.T, transport Transport, files Files) *input {
	t.Helper()
	o, log, reg := options(t, files)
	s, err := Listen(transport, "127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &input{s, sourcetest.NewIntake(1 << 20), log, reg}
}

// run runs the source until the end of the test.
func (i *input) run(t *testing.T) *input {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- i.Run(ctx, i.in) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the source ended with %v", err)
		}
	})
	return i
}

// count sums the series of a family whose label has a value; "" is any.
func (i *input) count(t *testing.T, name, value string) (sum float64) {
	t.Helper()
	families, err := i.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			if value == "" || m.GetLabel()[0].GetValue() == value {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for begin := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatalf("%s did not come", what)
		}
	}
}

func dial(t *testing.T, i *input, c *tls.Config) net.Conn {
	t.Helper()
	conn, err := net.Dial(i.Addr().Network(), i.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if c != nil {
		conn = tls.Client(conn, c)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// virtual are datagrams in memory.
type virtual struct {
	lines  []string
	closed chan struct{}
}

func (v *virtual) ReadMany(b []byte, sizes []int) ([]int, error) {
	for n := 0; n < 50 && len(v.lines) > 0; n++ {
		sizes = append(sizes, copy(b, v.lines[0]))
		b, v.lines = b[len(v.lines[0]):], v.lines[1:]
	}
	if len(sizes) > 0 {
		return sizes, nil
	}
	<-v.closed
	return sizes, io.EOF
}

func TestContract(t *testing.T) {
	authority := certstest.New(t, "syslog")
	cert, key := authority.Issue("localhost", year)
	for _, transport := range Transports {
		t.Run(string(transport), func(t *testing.T) {
			sourcetest.Contract(t, sourcetest.Harness{New: func(t *testing.T, m modetest.Mode, lines []string) sources.Source {
				t.Helper()
				if m.Real() {
					i := open(t, transport, Files{Cert: cert, Key: key})
					var config *tls.Config
					if transport == TLS {
						config = &tls.Config{RootCAs: authority.Pool, ServerName: "localhost"}
					}
					c := dial(t, i, config)
					if transport == UDP {
						for _, l := range lines {
							_, _ = io.WriteString(c, l)
						}
					} else {
						go func() { _, _ = io.WriteString(c, counted(lines...)) }() // the source may not read it all
					}
					return i
				}
				o, _, _ := options(t, Files{Cert: cert, Key: key})
				if transport == UDP {
					v := &virtual{lines, make(chan struct{})}
					return &datagrams{v, sync.OnceValue(func() error { close(v.closed); return nil }), o.Metrics.messages.WithLabelValues("udp")}
				}
				near, far := m.Pipe(t)
				l := sourcetest.NewListener()
				l.Give(near)
				a := accept.Options{Name: "test", Max: 1, Log: o.Log, Counters: o.Connections.Of("test"), Reader: o.reader(transport)}
				client := far
				if transport == TLS {
					h, err := newHandshakes(o)
					if err != nil {
						t.Fatal(err)
					}
					a.Secure, client = h.shake, tls.Client(far, &tls.Config{InsecureSkipVerify: true}) // the clock of the test is another
				}
				go func() { _, _ = io.WriteString(client, counted(lines...)) }()
				return accept.New(l, a)
			}})
		})
	}
}

// counted frames messages by their lengths.
func counted(messages ...string) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%d %s", len(m), m)
	}
	return b.String()
}

func TestDatagramsAreMessages(t *testing.T) {
	i := open(t, UDP, Files{}).run(t)
	c := dial(t, i, nil)
	large := "<1>" + strings.Repeat("x", 60_000)
	for _, m := range []string{"<1>a\nb\n", "", "5 <1>c", large} {
		if _, err := io.WriteString(c, m); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "three messages", func() bool { return len(i.in.Lines()) == 3 })
	if got, want := i.in.Lines(), []string{"<1>a\nb", "5 <1>c", large}; !slices.Equal(got, want) {
		t.Errorf("got %.100q, want %.100q", got, want)
	}
	if got := i.count(t, "syslog_messages_total", "udp"); got != 3 {
		t.Errorf("%g messages are counted, want 3", got)
	}
	if !strings.Contains(i.log.String(), "source=syslog+udp://"+i.Addr().String()) {
		t.Errorf("the log does not name the address: %s", i.log)
	}
}

func TestStreamsAreFramedAndTheirFaultsCounted(t *testing.T) {
	i := open(t, TCP, Files{}).run(t)
	for _, text := range []string{"5 <1>ab4 <1>c", "<2>a\r\n<2>b\n", "9 <3>cut", "99999999999 <4>a", "4 <5>abc\n", "\x16\x03\x01\x02\x00\x01"} {
		c := dial(t, i, nil)
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("after %q: %d bytes and error %v, want the end", text, n, err)
		}
	}
	want := []string{"<1>ab", "<1>c", "<2>a", "<2>b", "<3>cut", "<5>a", "bc"}
	if got := i.in.Lines(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for reason, want := range map[string]float64{"count": 1, "cut_off": 1, "out_of_step": 1, "tls": 1} {
		if got := i.count(t, "syslog_framing_errors_total", reason); got != want {
			t.Errorf("%g faults %s, want %g", got, reason, want)
		}
	}
	if got := i.count(t, "syslog_messages_total", "tcp"); got != float64(len(want)) {
		t.Errorf("%g messages are counted, want %d", got, len(want))
	}
	if got := strings.Count(i.log.String(), "syslog framing is wrong"); got != 4 {
		t.Errorf("%d faults are told, want each of four once: %s", got, i.log)
	}
}

func TestSendersBeyondTheLimitAreRefused(t *testing.T) {
	o, _, reg := options(t, Files{})
	o.Config.MaxConnections = 1
	s, err := Listen(TCP, "127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	i := (&input{s, sourcetest.NewIntake(10), nil, reg}).run(t)
	dial(t, i, nil)
	until(t, "the first connection", func() bool { return i.count(t, "input_connections", "syslog_tcp") == 1 })
	if n, err := dial(t, i, nil).Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("the second: %d bytes, error %v, want it closed", n, err)
	}
	if got := i.count(t, "input_connections_refused_total", "syslog_tcp"); got != 1 {
		t.Errorf("%g refused, want 1", got)
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:514": "", ":514": "", "[::1]:0": "", "localhost:6514": "",
		"": "must be host:port", "127.0.0.1": "must be host:port", "1.2.3.4:http": "must be a number", "1.2.3.4:70000": "must be a number", "1.2.3.4:-1": "must be a number", "1.2.3.4:": "must be a number",
	} {
		if err := Check(address); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", address, err, want)
		}
	}
	taken := open(t, TCP, Files{})
	o, _, _ := options(t, Files{})
	if _, err := Listen(TCP, taken.Addr().String(), o); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("an address that is taken: got %v", err)
	}
}
