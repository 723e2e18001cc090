package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/internal/certs/certstest"
)

// pipes is a listener of connections in memory, for tests in virtual time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	tls   *tls.Config // of clients; nil for plaintext
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial connects.
func (p *pipes) dial(t *testing.T) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close() })
	p.conns <- server
	if p.tls == nil {
		return client
	}
	secured := tls.Client(client, p.tls)
	if err := secured.Handshake(); err != nil {
		t.Errorf("handshake: %v", err)
	}
	return secured
}

// bothWays runs a test in a bubble of virtual time, with clients that speak plaintext and
// with those that speak TLS.
func bothWays(t *testing.T, name string, test func(t *testing.T, secured bool)) {
	t.Helper()
	for _, secured := range []bool{false, true} {
		if secured {
			name += " over TLS"
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, secured) })
		})
	}
}

// serveInTime starts a server in a bubble of virtual time.
func serveInTime(t *testing.T, secured bool, h http.HandlerFunc) (*Server, *pipes) {
	t.Helper()
	s, err := Listen(loopback, quiet())
	if err != nil {
		t.Fatal(err)
	}
	s.listener.Close()
	p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	s.listener = p
	if secured {
		ours := certstest.New(t, "ours")
		s.Secure(load(t, s.log, settings(ours.Issue("localhost", 90*24*time.Hour))))
		s.certs.serving.Load().config.SessionTicketsDisabled = true // a pipe holds nothing for clients that do not read
		p.tls = &tls.Config{RootCAs: ours.Pool, ServerName: "localhost"}
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(h) }()
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), <-done); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s, p
}

// closedFor returns the counts of closed connections that are not zero.
func (s *Server) closedFor(t *testing.T) string {
	t.Helper()
	reg := prometheus.NewRegistry()
	if err := s.Register(reg); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil || len(families) == 0 || len(families[0].GetMetric()) != 4 {
		t.Fatalf("got %v, %v, want a family with all reasons", families, err)
	}
	var out []string
	for _, m := range families[0].GetMetric() {
		if n := m.GetCounter().GetValue(); n != 0 {
			out = append(out, fmt.Sprintf("%s %g", m.GetLabel()[0].GetValue(), n))
		}
	}
	return strings.Join(out, ", ")
}

const post = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

// Whoever keeps the server waiting is cut off, each wait by its own time.
func TestConnectionsThatDoNotGoOnAreClosed(t *testing.T) {
	for _, tc := range []struct {
		name   string
		client func(c net.Conn)
		after  time.Duration
		answer string // status line, "" for none
		want   string
	}{
		{"one that says nothing", func(net.Conn) {}, headerTimeout, "", "header_timeout 1"},
		{"half a header", func(c net.Conn) { io.WriteString(c, "GET / HT") }, headerTimeout, "", "header_timeout 1"},
		{"a header byte by byte", func(c net.Conn) {
			for range 100 {
				time.Sleep(time.Second)
				if _, err := io.WriteString(c, "G"); err != nil {
					return
				}
			}
		}, headerTimeout, "", "header_timeout 1"},
		{"half a header behind a request", func(c net.Conn) {
			request(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			io.WriteString(c, "GET / HT")
		}, headerTimeout, "", "header_timeout 1"},
		{"an idle connection ends without a count", func(c net.Conn) { request(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") }, idleTimeout, "", ""},
		{"a body that does not begin", func(c net.Conn) { io.WriteString(c, post) }, readTimeout, "HTTP/1.1 408 Request Timeout", "read_timeout 1"},
		{"half a chunk", func(c net.Conn) { io.WriteString(c, post+"10\r\nab") }, readTimeout, "HTTP/1.1 408 Request Timeout", "read_timeout 1"},
		{"half of a counted body", func(c net.Conn) { io.WriteString(c, "PATCH / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{") }, readTimeout, "HTTP/1.1 408 Request Timeout", "read_timeout 1"},
		{"a chunk without its end", func(c net.Conn) { io.WriteString(c, post+"2\r\nab") }, readTimeout, "HTTP/1.1 408 Request Timeout", "read_timeout 1"},
		{"half of the last chunk", func(c net.Conn) { io.WriteString(c, post+"2\r\nab\r\n0") }, readTimeout, "HTTP/1.1 408 Request Timeout", "read_timeout 1"},
		{"a trailer that does not begin", func(c net.Conn) { io.WriteString(c, post+"2\r\nab\r\n0\r\n") }, readTimeout, "HTTP/1.1 408 Request Timeout", "read_timeout 1"},
		{"the first byte of a trailer", func(c net.Conn) { io.WriteString(c, post+"0\r\n\r") }, readTimeout, "HTTP/1.1 408 Request Timeout", "read_timeout 1"},
		{"half a trailer", func(c net.Conn) { io.WriteString(c, post+"2\r\nab\r\n0\r\nX-A: b\r\nX-") }, readTimeout, "HTTP/1.1 408 Request Timeout", "read_timeout 1"},
		{"half of a trailer that was announced", func(c net.Conn) {
			io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nTrailer: X-A\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-A: b\r\n")
		}, readTimeout, "HTTP/1.1 408 Request Timeout", "read_timeout 1"},
		{"a trailer without its last line", func(c net.Conn) { io.WriteString(c, post+"0\r\nX-A: b\r\n\r") }, readTimeout, "HTTP/1.1 408 Request Timeout", "read_timeout 1"},
		{"a trailer behind another request", func(c net.Conn) {
			request(c, post+"1\r\nx\r\n0\r\n\r\n")
			io.WriteString(c, post+"2\r\nab\r\n0\r\nX-")
		}, readTimeout, "HTTP/1.1 408 Request Timeout", "read_timeout 1"},
		{"a trailer that is wrong", func(c net.Conn) { io.WriteString(c, post+"0\r\nno trailer\r\n\r\n") }, 0, "HTTP/1.1 400 Bad Request", ""},
		{"a chunk that is wrong behind a request", func(c net.Conn) {
			request(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			time.Sleep(time.Second)
			io.WriteString(c, post+"no chunk\r\n")
		}, time.Second, "HTTP/1.1 400 Bad Request", ""},
		{"a body that goes on in time", func(c net.Conn) {
			io.WriteString(c, post)
			for range 20 {
				time.Sleep(readTimeout - time.Second)
				io.WriteString(c, "1\r\nx\r\n")
			}
			io.WriteString(c, "0\r\n\r\n")
		}, 20*(readTimeout-time.Second) + idleTimeout, "HTTP/1.1 200 OK", ""},
		{"an answer that nobody reads", func(c net.Conn) { io.WriteString(c, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n"); <-never(c) }, writeTimeout, "", "write_timeout 1"},
	} {
		bothWays(t, tc.name, func(t *testing.T, secured bool) {
			t.Helper()
			over := make(chan struct{}) // ends the clients that do not read
			defer close(over)
			blocked = over
			s, p := serveInTime(t, secured, func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					var status interface{ Status() int }
					if errors.As(err, &status) {
						w.WriteHeader(status.Status())
					} else {
						w.WriteHeader(http.StatusBadRequest)
					}
					return
				}
				if r.URL.Path == "/large" {
					for {
						if _, err := w.Write(make([]byte, 1<<20)); err != nil {
							return
						}
					}
				}
				io.WriteString(w, "ok")
			})
			begin := time.Now()
			c := p.dial(t)
			ended := make(chan string, 1)
			silent := strings.Contains(tc.name, "nobody reads")
			go func() {
				if silent {
					return
				}
				tc.client(c)
				raw, _ := io.ReadAll(c)
				line, _, _ := strings.Cut(string(raw), "\r\n")
				ended <- line
			}()
			if silent {
				go tc.client(c)
				time.Sleep(writeTimeout + time.Second)
				synctest.Wait()
			} else if got := <-ended; got != tc.answer {
				t.Errorf("answer %q, want %q", got, tc.answer)
			} else if took := time.Since(begin); took < tc.after || took > tc.after+2*discardTime {
				t.Errorf("ended after %s, want %s", took, tc.after)
			}
			if got := s.closedFor(t); got != tc.want {
				t.Errorf("counted %q, want %q", got, tc.want)
			}
		})
	}
}

var blocked chan struct{} // until the end of the test in hand

func never(net.Conn) <-chan struct{} { return blocked }

// request sends a request and reads its answer.
func request(c net.Conn, text string) {
	io.WriteString(c, text)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err == nil {
		io.Copy(io.Discard, resp.Body)
	}
}

// A client that reads slowly is not one that does not read.
func TestASlowReaderGetsEverything(t *testing.T) {
	bothWays(t, "a slow reader", func(t *testing.T, secured bool) {
		t.Helper()
		s, p := serveInTime(t, secured, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 4<<20)) })
		c := p.dial(t)
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		total, piece := 0, make([]byte, 32<<10)
		for {
			n, err := io.ReadFull(c, piece)
			total += n
			if err != nil {
				break
			}
			time.Sleep(8 * time.Second)
		}
		if got := s.closedFor(t); total < 4<<20 || got != "" {
			t.Errorf("%d bytes arrived, counted %q, want all and nothing", total, got)
		}
	})
}

// A handler may wait for room as long as it takes, in the middle of a body.
func TestAHandlerThatWaitsIsNotTakenForItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := serveInTime(t, false, func(w http.ResponseWriter, r *http.Request) {
			one := make([]byte, 1)
			for range 2 {
				if _, err := io.ReadFull(r.Body, one); err != nil {
					t.Errorf("read: %v", err)
				}
				time.Sleep(time.Hour)
			}
			if r.Context().Err() != nil {
				t.Error("the request has ended")
			}
		})
		c := p.dial(t)
		go io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab")
		raw, _ := io.ReadAll(c)
		if got := s.closedFor(t); !bytes.HasPrefix(raw, []byte("HTTP/1.1 200 OK")) || got != "" {
			t.Errorf("got %q, counted %q", raw, got)
		}
	})
}

// Uploads that are idle when the server leaves get an answer, soon.
func TestIdleUploadsAreAnsweredWhenTheServerLeaves(t *testing.T) {
	for _, sent := range []string{"", "2\r\nab\r\n", "10\r\nab", "2\r\nab\r\n0\r\nX-"} {
		bothWays(t, fmt.Sprintf("after %q", sent), func(t *testing.T, secured bool) {
			t.Helper()
			s, p := serveInTime(t, secured, func(w http.ResponseWriter, r *http.Request) {
				_, err := io.Copy(io.Discard, r.Body)
				var status interface{ Status() int }
				if errors.As(err, &status) {
					http.Error(w, err.Error(), status.Status())
				}
			})
			c := p.dial(t)
			answered := make(chan string, 1)
			go func() {
				io.WriteString(c, post+sent)
				raw, _ := io.ReadAll(c)
				line, _, _ := strings.Cut(string(raw), "\r\n")
				answered <- line
			}()
			time.Sleep(5 * time.Second)
			synctest.Wait()
			begin := time.Now()
			if err := s.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took > leaveTime+2*discardTime {
				t.Errorf("after %q it left after %s", sent, took)
			}
			if got := <-answered; got != "HTTP/1.1 503 Service Unavailable" {
				t.Errorf("after %q got %q, want a 503", sent, got)
			}
			if got := s.closedFor(t); got != "" {
				t.Errorf("counted %q, want nothing", got)
			}
		})
	}
}

// An HTTP/2 client may take the other streams and not this one.
func TestStreamsThatDoNotGoOnAreReset(t *testing.T) {
	for _, tc := range []struct {
		name string
		body bool
		want string
	}{
		{"a body that does not come", true, "read_timeout 1"},
		{"an answer that is not read", false, "write_timeout 1"},
	} {
		bothWays(t, tc.name, func(t *testing.T, secured bool) {
			t.Helper()
			var done atomic.Bool
			s, p := serveInTime(t, secured, func(w http.ResponseWriter, r *http.Request) {
				defer done.Store(true)
				if r.Method == "POST" {
					_, err := io.Copy(io.Discard, r.Body)
					if !errors.Is(err, os.ErrDeadlineExceeded) {
						t.Errorf("got %v, want a timeout", err)
					}
					return
				}
				for {
					if _, err := w.Write(make([]byte, 1<<16)); err != nil {
						return
					}
				}
			})
			protocols := new(http.Protocols)
			protocols.SetUnencryptedHTTP2(true)
			transport := &http.Transport{Protocols: protocols, DialContext: func(context.Context, string, string) (net.Conn, error) { return p.dial(t), nil }}
			defer transport.CloseIdleConnections()
			method, body := "GET", io.Reader(nil)
			if tc.body {
				r, w := io.Pipe()
				defer w.Close()
				method, body = "POST", r
			}
			req, err := http.NewRequest(method, "http://x/", body)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				resp, err := transport.RoundTrip(req)
				if err == nil {
					<-t.Context().Done()
					resp.Body.Close()
				}
			}()
			time.Sleep(readTimeout + time.Second)
			synctest.Wait()
			if got := s.closedFor(t); !done.Load() || got != tc.want {
				t.Errorf("handler ended: %t, counted %q, want %q", done.Load(), got, tc.want)
			}
		})
	}
}

// exhausted is a listener of a process without descriptors.
type exhausted struct {
	pipes
	left int
}

func (e *exhausted) Accept() (net.Conn, error) {
	if e.left == 0 {
		return e.pipes.Accept()
	}
	e.left--
	return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
}

func TestFailingAcceptsAreToldOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s, err := Listen(loopback, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))
		if err != nil {
			t.Fatal(err)
		}
		s.listener.Close()
		s.listener = &exhausted{pipes: pipes{conns: make(chan net.Conn), done: make(chan struct{})}, left: 20} // net/http pauses up to a second
		done := make(chan error, 1)
		go func() { done <- s.Serve(http.HandlerFunc(ok)) }()
		time.Sleep(time.Minute)
		if err := errors.Join(s.Close(), <-done); err != nil {
			t.Error(err)
		}
		if got := s.closedFor(t); got != "accept_error 20" {
			t.Errorf("counted %q, want 20 failures", got)
		}
		if got := strings.Count(log.String(), "too many open files"); got != 2 {
			t.Errorf("%d warnings, want one per ten seconds:\n%s", got, log.String())
		}
	})
}

// What net/http answers by itself has the form of every other error.
func TestRequestsThatCannotBeReadAreAnsweredInJSON(t *testing.T) {
	s := serve(t, loopback, http.HandlerFunc(ok))
	for _, tc := range []struct{ name, request, status, body string }{
		{"no request", "nonsense and more of it\r\n\r\n", "400 Bad Request", `{"error":"bad request"}`},
		{"no host", "GET / HTTP/1.1\r\n\r\n", "400 Bad Request", `{"error":"bad request: missing required Host header"}`},
		{"a header that is none", "GET / HTTP/1.1\r\nHost: x\r\nA B\r\n\r\n", "400 Bad Request", `{"error":"bad request"}`},
		{"an encoding nobody knows", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: brotli\r\n\r\n", "501 Not Implemented", `{"error":"not implemented: Unsupported transfer encoding"}`},
		{"a header too large to read", "GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("x", 3*hardHeaderBytes), "431 Request Header Fields Too Large", `{"error":"request header fields too large"}`},
		{"a version nobody knows", "GET / HTTP/3.7\r\nHost: x\r\n\r\n", "505 HTTP Version Not Supported", `{"error":"http version not supported: unsupported protocol version"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := dial(t, s)
			go io.WriteString(c, tc.request)
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			if got := strings.TrimSpace(string(body)); resp.Status != tc.status || got != tc.body || resp.Header.Get("Content-Type") != "application/json" {
				t.Errorf("got %s %s %q, want %s %q in JSON", resp.Status, resp.Header.Get("Content-Type"), got, tc.status, tc.body)
			}
		})
	}
}
