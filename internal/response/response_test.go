package response_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/response"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// zeros is a megabyte of zeros, compressed.
func zeros(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBodiesAreLimited(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/exact":
			_, _ = w.Write(make([]byte, 1000))
		case "/declared":
			w.Header().Set("Content-Length", "10485761")
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done() // the client does not wait for the body
		case "/streamed":
			for range 100 {
				_, _ = w.Write(make([]byte, 100))
				w.(http.Flusher).Flush()
			}
		case "/compressed":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(zeros(t))
		case "/cut":
			w.Header().Set("Content-Length", "500")
			_, _ = w.Write(make([]byte, 10))
		}
	}))
	defer server.Close()
	for path, want := range map[string]string{
		"/exact":      "",
		"/declared":   "response body is too large: more than 1000 bytes",
		"/streamed":   "response body is too large: more than 1000 bytes",
		"/compressed": "response body is too large: more than 1000 bytes",
		"/cut":        "read the response body: unexpected EOF",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := response.ReadBody(answer, 1000)
		if want == "" && (err != nil || len(body) != 1000) || want != "" && (err == nil || err.Error() != want || body != nil) {
			t.Errorf("%s: got %d bytes, %v, want %s", path, len(body), err, want)
		}
		if strings.Contains(want, "too large") != errors.Is(err, response.ErrTooLarge) {
			t.Errorf("%s: the error %v is of another kind", path, err)
		}
	}
}

// oneConn is a listener with one connection.
type oneConn struct {
	conns chan net.Conn
}

// Accept implements net.Listener.
func (l *oneConn) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close implements net.Listener.
func (l *oneConn) Close() error { close(l.conns); return nil }

// Addr implements net.Listener.
func (*oneConn) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// A body that drips, or never ends, ends the reading after a second, and with it the
// connection.
func TestABodyThatDoesNotEndIsLeftAfterASecond(t *testing.T) {
	drip := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			time.Sleep(100 * time.Millisecond)
		}
	}
	for _, tc := range []struct {
		name    string
		handler http.HandlerFunc
		want    time.Duration
		read    int
		ended   bool // as it should
	}{
		{"a body that drips", drip, time.Second, 11, false},
		{"a body that never comes", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, time.Second, 0, false},
		{"a body that is there", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1000)) }, 0, 1000, true},
		{"a body that is large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) }, 0, 64 << 10, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				listener := &oneConn{make(chan net.Conn, 1)}
				listener.conns <- far
				over := make(chan struct{})
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer close(over)
					tc.handler(w, r)
				})}
				go func() { _ = server.Serve(listener) }()
				client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return near, nil }}}
				answer, err := client.Get("http://server.example/")
				if err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				body, err := response.ReadRest(answer)
				took := time.Since(begun)
				if took != tc.want || len(body) > tc.read || len(body) < tc.read-1 || (err == nil) != tc.ended {
					t.Errorf("%d bytes and error %v after %s, want %d bytes after %s", len(body), err, took, tc.read, tc.want)
				}
				<-over // also a handler that goes on until its client is gone
				client.CloseIdleConnections()
				if err := server.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name, text string
		want       time.Duration
	}{
		{"no wish", "", 0},
		{"seconds", "7", 7 * time.Second},
		{"seconds with blanks around them", " 7\t", 7 * time.Second},
		{"nothing", "0", 0},
		{"the longest wait", "60", time.Minute},
		{"more than that", "61", time.Minute},
		{"a number beyond all numbers", strings.Repeat("9", 40), time.Minute},
		{"seconds below nothing", "-1", 0},
		{"a fraction", "1.5", 0},
		{"words", "soon", 0},
		{"a date", "Sun, 01 Mar 2026 12:00:30 GMT", 30 * time.Second},
		{"a date in the past", "Sun, 01 Mar 2026 11:00:00 GMT", 0},
		{"a date far ahead", "Mon, 01 Mar 2027 12:00:00 GMT", time.Minute},
		{"a date of the old form", "Sunday, 01-Mar-26 12:00:09 GMT", 9 * time.Second},
	} {
		if got := response.RetryAfter(http.Header{"Retry-After": {tc.text}}, now, time.Minute); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
	if got := response.RetryAfter(nil, now, time.Minute); got != 0 {
		t.Errorf("no header: got %s", got)
	}
}
