// Package natstest runs real NATS servers in tests: in the process, in virtual time
// too, or in a process of their own that can be killed.
package natstest

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats-server/v2/server/ats"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/dial"
)

// wait is for what takes no time on an idle machine.
const wait = 30 * time.Second

// Server is a server with JetStream, whose streams outlive a stop.
type Server struct {
	t       *testing.T
	options server.Options
	tcp     bool

	mu    sync.Mutex // guards the rest
	now   *server.Server
	conns []net.Conn // in memory
}

// Start starts a server on a port of the loopback address. change may be nil.
func Start(t *testing.T, change func(o *server.Options)) *Server {
	t.Helper()
	return start(t, true, change)
}

// InMemory starts a server that Dial alone reaches, so that it runs in virtual time.
// The test that begins the bubbles has called Bubbles before.
func InMemory(t *testing.T, change ...func(o *server.Options)) *Server {
	t.Helper()
	return start(t, false, func(o *server.Options) {
		for _, f := range change {
			f(o)
		}
	})
}

// Bubbles prepares for servers in bubbles of virtual time: what the servers of a process
// share must not begin in one of them.
func Bubbles(t *testing.T) {
	t.Helper()
	ats.Register()
	t.Cleanup(ats.Unregister)
}

// forgetTimers empties the pools: the client library keeps timers in one, and a timer
// of a bubble must not be used outside of it.
func forgetTimers() {
	runtime.GC()
	runtime.GC() // what survives the first one
}

func start(t *testing.T, tcp bool, change func(o *server.Options)) *Server {
	t.Helper()
	forgetTimers()
	s := &Server{t: t, tcp: tcp, options: server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, DontListen: !tcp, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
		AuthTimeout: wait.Seconds(), // of clients that stand still
	}}
	if !tcp {
		s.options.Port = 4222 // of which nothing comes
	}
	if change != nil {
		change(&s.options)
	}
	s.Up()
	t.Cleanup(s.Down)
	return s
}

// Up starts the server where it was before.
func (s *Server) Up() {
	s.t.Helper()
	o := s.options
	now, err := server.NewServer(&o)
	if err != nil {
		s.t.Fatal(err)
	}
	now.Start()
	if !now.ReadyForConnections(wait) {
		s.t.Fatal("the server does not start")
	}
	if addr, ok := now.Addr().(*net.TCPAddr); ok && s.tcp {
		s.options.Port = addr.Port
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// Down stops the server and breaks its connections.
func (s *Server) Down() {
	s.mu.Lock()
	now, conns := s.now, s.conns
	s.now, s.conns = nil, nil
	s.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
	}
	if now != nil {
		now.Shutdown()
		now.WaitForShutdown()
	}
}

// Server is the server itself.
func (s *Server) Server() *server.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Target is "host:port/" and a subject.
func (s *Server) Target(subject string) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.options.Port)) + "/" + subject
}

// Dial connects, also to a server that does not listen.
func (s *Server) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.tcp {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil, errors.New("connection refused")
	}
	c, err := s.now.InProcessConn()
	if err == nil {
		s.conns = append(s.conns, c)
	}
	return c, err
}

// Dialer makes connections to the server.
func (s *Server) Dialer(c natsconn.Config) dial.Dialer {
	return dial.Dialer{Config: c, Log: slog.New(slog.DiscardHandler), Dial: s.Dial}
}

// Patient is the option of a client that waits for its connection as long as tests do: the
// library's two seconds are short where a machine stands still.
func Patient(o *nats.Options) error {
	o.Timeout = wait
	return nil
}

// JetStream is the client's view of the streams, as patient as its connection.
func JetStream(nc *nats.Conn) (jetstream.JetStream, error) {
	return jetstream.New(nc, jetstream.WithDefaultTimeout(wait))
}

// Client is a connection of the test itself, with options that log in.
func (s *Server) Client(options ...nats.Option) (*nats.Conn, jetstream.JetStream) {
	s.t.Helper()
	options = append(options, nats.SetCustomDialer(dialer(s.Dial)), Patient)
	nc, err := nats.Connect("nats://"+net.JoinHostPort("127.0.0.1", strconv.Itoa(s.options.Port)), options...)
	if err != nil {
		s.t.Fatal(err)
	}
	js, err := JetStream(nc)
	if err != nil {
		s.t.Fatal(err)
	}
	return nc, js
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d(context.Background(), network, address)
}

// Stored returns the messages of a stream in order, none without the stream.
func (s *Server) Stored(stream string, options ...nats.Option) []*jetstream.RawStreamMsg {
	s.t.Helper()
	nc, js := s.Client(options...)
	defer nc.Close()
	return Messages(s.t, js, stream)
}

// Messages returns the messages of a stream in order, none without the stream.
func Messages(t *testing.T, js jetstream.JetStream, stream string) (all []*jetstream.RawStreamMsg) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	str, err := js.Stream(ctx, stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	state := str.CachedInfo().State
	for n := state.FirstSeq; state.Msgs > 0 && n <= state.LastSeq; n++ {
		m, err := str.GetMsg(ctx, n)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// Bodies returns the bodies of messages.
func Bodies(messages []*jetstream.RawStreamMsg) (all []string) {
	for _, m := range messages {
		all = append(all, string(m.Data))
	}
	return all
}
