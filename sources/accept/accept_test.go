package accept

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/logtest"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// pipes is a listener in memory. What is sent to it is accepted.
type pipes struct {
	accepted chan any // a net.Conn or an error
	closed   chan struct{}
	once     sync.Once
}

func newPipes() *pipes { return &pipes{accepted: make(chan any), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case x := <-p.accepted:
		if err, ok := x.(error); ok {
			return nil, err
		}
		return x.(net.Conn), nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

// connect returns the client's end of an accepted connection.
func (p *pipes) connect(t *testing.T) net.Conn {
	t.Helper()
	near, far := net.Pipe()
	p.accepted <- near
	t.Cleanup(func() { _ = far.Close() })
	return far
}

// rig is a server that runs.
type rig struct {
	*Server
	in   *sourcetest.Intake
	log  *logtest.Buffer
	reg  *prometheus.Registry
	stop func() error
}

func start(t *testing.T, l net.Listener, capacity int, change func(*Options)) *rig {
	t.Helper()
	in := sourcetest.NewIntake(capacity)
	r := startInto(t, l, in, change)
	r.in = in
	return r
}

func startInto(t *testing.T, l net.Listener, in sources.Intake, change func(*Options)) *rig {
	t.Helper()
	r := &rig{log: new(logtest.Buffer), reg: prometheus.NewRegistry()}
	metrics, err := NewMetrics(r.reg, "test")
	if err != nil {
		t.Fatal(err)
	}
	buffers := new(sources.Buffers)
	o := Options{
		Name: "test", Max: 2, Log: slog.New(slog.NewTextHandler(r.log, nil)), Counters: metrics.Of("test"),
		Reader: func(s sources.Pausing) sources.PausingReader { return buffers.NewPausingReader(s) },
	}
	if change != nil {
		change(&o)
	}
	r.Server = New(l, o)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx, in) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = r.stop() })
	return r
}

func (r *rig) count(t *testing.T, name string) float64 {
	t.Helper()
	families, err := r.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				if m.GetLabel()[0].GetValue() == "test" {
					return m.GetGauge().GetValue() + m.GetCounter().GetValue()
				}
			}
		}
	}
	t.Errorf("there is no series %s", name)
	return -1
}

func send(t *testing.T, c io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Error(err)
	}
}

func TestConnectionsComeAndGo(t *testing.T) {
	for _, tc := range []struct {
		name string
		run  func(t *testing.T, p *pipes, r *rig)
		want []string
	}{
		{"a client that leaves does not end the others", func(t *testing.T, p *pipes, _ *rig) {
			t.Helper()
			a, b := p.connect(t), p.connect(t)
			send(t, a, "a\n")
			synctest.Wait()
			_ = a.Close()
			send(t, b, "b\n")
		}, []string{"a", "b"}},
		{"what comes before the end without a line feed is a line", func(t *testing.T, p *pipes, _ *rig) {
			t.Helper()
			c := p.connect(t)
			send(t, c, "a\nfragment")
			_ = c.Close()
		}, []string{"a", "fragment"}},
		{"a line in pieces", func(t *testing.T, p *pipes, _ *rig) {
			t.Helper()
			c := p.connect(t)
			for _, piece := range []string{"a", "b", "c\nd", "e\n"} {
				send(t, c, piece)
				time.Sleep(time.Hour)
			}
		}, []string{"abc", "de"}},
		{"what was sent before the client left waits for room and comes in", func(t *testing.T, p *pipes, r *rig) {
			t.Helper()
			c := p.connect(t)
			send(t, c, strings.Repeat("a\n", 150))
			_ = c.Close()
			time.Sleep(time.Hour)
			if got := len(r.in.Lines()); got != 100 {
				t.Errorf("%d lines without more room, want 100", got)
			}
			r.in.Take()
		}, slices.Repeat([]string{"a"}, 150)},
		{"more connections than are allowed are closed at once", func(t *testing.T, p *pipes, r *rig) {
			t.Helper()
			a, b, third := p.connect(t), p.connect(t), p.connect(t)
			if n, err := third.Read(make([]byte, 1)); n != 0 || err == nil {
				t.Errorf("the third connection: %d bytes, error %v, want it closed", n, err)
			}
			synctest.Wait() // the peer sees the end before it is told
			if got := r.count(t, "input_connections_refused_total"); got != 1 {
				t.Errorf("%g refused, want 1", got)
			}
			if got := r.count(t, "input_connections"); got != 2 {
				t.Errorf("%g connections, want 2", got)
			}
			if !strings.Contains(r.log.String(), `level=WARN msg="connection refused: too many at once" limit=2 source=test`) {
				t.Errorf("the log says nothing of it: %s", r.log)
			}
			send(t, a, "a\n")
			synctest.Wait()
			_ = a.Close()
			synctest.Wait()
			send(t, p.connect(t), "c\n")
			synctest.Wait()
			send(t, b, "b\n")
		}, []string{"a", "c", "b"}},
		{"accepting goes on after an error", func(t *testing.T, p *pipes, r *rig) {
			t.Helper()
			begin := time.Now()
			for range 3 {
				p.accepted <- errors.New("too many open files")
			}
			send(t, p.connect(t), "a\n")
			if got := time.Since(begin); got != 300*time.Millisecond {
				t.Errorf("tried again for the third time after %s, want 300ms", got)
			}
			if got := strings.Count(r.log.String(), "connection not accepted"); got != 1 {
				t.Errorf("told %d times in ten seconds, want once: %s", got, r.log)
			}
		}, []string{"a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				r := start(t, p, 100, nil)
				tc.run(t, p, r)
				synctest.Wait()
				if got := r.in.Lines(); !slices.Equal(got, tc.want) {
					t.Errorf("got %q, want %q", got, tc.want)
				}
				if err := r.stop(); err != nil {
					t.Errorf("ended with %v", err)
				}
				if got := r.count(t, "input_connections"); got != 0 {
					t.Errorf("%g connections in the end", got)
				}
			})
		})
	}
}

func TestAMessageThatPausesTooLongEnds(t *testing.T) {
	modetest.Both(t, "in", func(t *testing.T, m modetest.Mode) {
		t.Helper()
		patience := time.Second
		var l net.Listener = newPipes()
		if m.Real() {
			patience = 50 * time.Millisecond
			l = listen(t)
		}
		r := start(t, l, 100, func(o *Options) { o.Patience = patience })
		c := dial(t, l)
		send(t, c, "whole\n")
		m.Until(t, func() bool { return len(r.in.Lines()) == 1 })
		time.Sleep(3 * patience) // between two messages there is all the time
		send(t, c, "half")
		m.Until(t, func() bool { return len(r.in.Lines()) == 2 })
		if got, want := r.in.Lines(), []string{"whole", "half"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("the connection goes on")
		}
	})
}

func listen(tb testing.TB) net.Listener {
	tb.Helper()
	dir, err := os.MkdirTemp("", "accept") //nolint:usetesting // the path of a socket is short
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	if p, ok := l.(*pipes); ok {
		return p.connect(t)
	}
	c, err := net.Dial(l.Addr().Network(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// What a connection costs while nothing comes, after it has sent much, and after it has
// sent the beginning of a line.
func TestIdleConnectionsHoldNoBuffers(t *testing.T) {
	const connections, bound = 1000, 16 << 10
	for _, network := range []string{"unix", "tcp"} {
		for _, tc := range []struct{ name, before string }{
			{"fresh", ""},
			{"after a burst", strings.Repeat(strings.Repeat("x", 99)+"\n", 1000)},
			{"within a line", strings.Repeat("x", 100)},
		} {
			t.Run(network+" "+tc.name, func(t *testing.T) {
				l := listen(t)
				if network == "tcp" {
					_ = l.Close()
					var err error
					if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
						t.Fatal(err)
					}
				}
				sunk := &sink{}
				r := startInto(t, l, sunk, func(o *Options) { o.Max = connections })
				before := inUse()
				all := make([]net.Conn, connections)
				for i := range all {
					all[i] = dial(t, l)
					send(t, all[i], tc.before)
				}
				want := connections * strings.Count(tc.before, "\n")
				until(t, func() bool { return r.count(t, "input_connections") == connections && sunk.lines.Load() == int64(want) })
				each := (inUse() - before) / connections
				t.Logf("%d bytes for each of %d connections", each, connections)
				if each > bound {
					t.Errorf("%d bytes for each connection, want %d at most", each, bound)
				}
			})
		}
	}
}

// sink takes all lines and keeps none.
type sink struct{ lines atomic.Int64 }

func (s *sink) Put(_ context.Context, run []graph.Line) (int, error) {
	s.lines.Add(int64(len(run)))
	graph.ReleaseLines(run)
	return len(run), nil
}

func (*sink) Oversize(context.Context, []byte, graph.Token) error { return nil }

// inUse is the memory that is in use when garbage and spare stacks are gone.
func inUse() int {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for begin := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatal("nothing comes any more")
		}
	}
}
