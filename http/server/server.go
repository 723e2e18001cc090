package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"

	"github.com/sluicehq/sluice/internal/socketfile"
)

// Limits of a connection, beside those of conn.go. A whole request or response has
// none: streams do not end, and ingest waits for room.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 120 * time.Second
	headerBytes   = 64 << 10

	// hardHeaderBytes is where net/http stops reading, with an answer of its
	// own. Up to there the answer is ours, and JSON like every other.
	hardHeaderBytes = 2 * headerBytes

	// silentGrace is how long Shutdown lets a connection live on which no
	// request has begun. net/http alone would wait for it for seconds.
	silentGrace = 200 * time.Millisecond
)

// Server is a bound listener and the HTTP server on it.
type Server struct {
	listener net.Listener
	addr     Address
	socket   *socketfile.File
	http     *http.Server
	log      *slog.Logger
	calls    atomic.Pointer[http.Handler]

	certs  *Certificates          // nil: plaintext
	closed *prometheus.CounterVec // connections, by reason

	cutting atomic.Bool // connections are closed without a word

	leaving atomic.Int64 // when bodies that do not come are given up, in Unix nanoseconds; 0 before Shutdown

	mu     sync.Mutex                // guards the rest
	silent map[net.Conn]struct{}     // connections without a request yet
	bodies map[*watchedBody]struct{} // of the requests in hand
}

// Listen binds addr. Connections wait in the backlog until Serve is called.
func Listen(addr Address, log *slog.Logger) (*Server, error) {
	l, real, sock, err := listen(addr, log)
	if err != nil {
		return nil, err
	}
	s := &Server{listener: l, addr: real, socket: sock, log: log, closed: newClosed(), silent: make(map[net.Conn]struct{}), bodies: make(map[*watchedBody]struct{})}
	s.MountCalls(RefuseCalls(codes.Unimplemented, "unknown service"))
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s.http = &http.Server{
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               hardHeaderBytes,
		Protocols:                    protocols,
		DisableGeneralOptionsHandler: true,
		ConnState:                    s.track,
		ConnContext:                  withConn,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// Secure has the server speak TLS, and nothing else. It is called before Register and
// Serve, or not at all.
func (s *Server) Secure(c *Certificates) { s.certs = c }

// Certificates are those of the server, nil without TLS.
func (s *Server) Certificates() *Certificates { return s.certs }

// Register registers the server's series.
func (s *Server) Register(reg prometheus.Registerer) error {
	err := reg.Register(s.closed)
	if s.certs != nil {
		err = errors.Join(err, s.certs.register(reg))
	}
	return err
}

// Addr is the bound address, with the real port.
func (s *Server) Addr() Address { return s.addr }

// MountCalls gives gRPC calls to h from now on. Until the first time they are
// answered UNIMPLEMENTED.
func (s *Server) MountCalls(h http.Handler) { s.calls.Store(&h) }

// Serve answers requests with h until Shutdown or Close, and then returns nil.
func (s *Server) Serve(h http.Handler) error {
	h = s.bounded(h)
	calls := s.bounded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.calls.Load()).ServeHTTP(w, r) }))
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.certs != nil {
			r.TLS = &r.Context().Value(connKey{}).(*conn).session.state
		}
		if headerSize(r) > headerBytes {
			refuseHeader(w)
			return
		}
		if isCall(r) {
			calls.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
	s.log.Info("probes listening", "addr", s.addr.String())
	if err := s.http.Serve(&acceptor{Listener: s.listener, server: s}); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve api on %s: %w", s.addr, err)
	}
	return nil
}

// Shutdown stops accepting and waits for the requests in flight. When ctx ends
// first it closes their connections and says so. The socket file stays.
func (s *Server) Shutdown(ctx context.Context) error {
	s.leave()
	grace := time.AfterFunc(silentGrace, s.closeSilent)
	defer grace.Stop()
	err := s.http.Shutdown(ctx)
	// A server that never served does not know its listener.
	_ = s.listener.Close()
	if err != nil {
		s.cutting.Store(true)
		return errors.Join(fmt.Errorf("requests still running: %w", err), s.http.Close())
	}
	return nil
}

// Close ends every connection and removes the socket file, unless another
// process has bound the path since. It may follow Shutdown, and be repeated.
func (s *Server) Close() error {
	s.cutting.Store(true)
	err := s.http.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	_ = s.listener.Close()
	if s.socket != nil {
		err = errors.Join(err, s.socket.Remove())
	}
	return err
}

func (s *Server) track(c net.Conn, state http.ConnState) {
	if c, ok := c.(*conn); ok {
		c.entered(state)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateNew {
		s.silent[c] = struct{}{}
		return
	}
	delete(s.silent, c)
}

func (s *Server) closeSilent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.silent {
		_ = c.Close()
	}
}
