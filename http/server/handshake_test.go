package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/logtest"
)

func TestPlaintextOnAPortOfTLSIsAnswered(t *testing.T) {
	s, log := serveTLS(t, settings(certstest.New(t, "ours").Issue("localhost", year)), http.HandlerFunc(ok))
	const want = `{"error":"client sent an HTTP request to an HTTPS server","hint":"use https://"}` + "\n"
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		t.Run(method, func(t *testing.T) {
			req, err := http.NewRequest(method, "http://"+s.Addr().String()+"/", strings.NewReader(strings.Repeat("x", 100<<10)))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := clientFor(t, "HTTP/1.1").Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if method != "HEAD" && (err != nil || string(body) != want) || resp.StatusCode != http.StatusBadRequest || resp.Header.Get("Content-Type") != "application/json" {
				t.Errorf("got %s %q, %v, want 400 %q", resp.Status, body, err, want)
			}
		})
	}
	t.Run("HTTP/2 with prior knowledge", func(t *testing.T) {
		c := dial(t, s)
		io.WriteString(c, hello)
		if got, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 400 ") {
			t.Errorf("got %q, %v, want the answer of HTTP/1.1", got, err)
		}
	})
	t.Run("what is no request at all", func(t *testing.T) {
		c := dial(t, s)
		io.WriteString(c, "\x00\x01\x02\x03\x04\x05")
		if got, _ := io.ReadAll(c); bytes.Contains(got, []byte("HTTP")) {
			t.Errorf("got %q, want no answer of HTTP", got)
		}
	})
	eventually(t, "the warnings", func() bool { return strings.Count(log.String(), "TLS handshake failed") == 2 })
	if got := log.String(); !strings.Contains(got, `level=WARN msg="TLS handshake failed" peer=127.0.0.1:`) || !strings.Contains(got, "has to use https://") {
		t.Errorf("got log\n%s\nwant the peer and the reason", got)
	}
}

// Handshakes that hang hold up nobody, and end.
func TestHandshakesThatDoNotGoOn(t *testing.T) {
	const hundreds = 300
	half := []byte("\x16\x03\x01\x02\x00\x01\x00") // of a record that never ends
	for _, tc := range []struct {
		name string
		sent []byte
		want string
	}{
		{"a client that says nothing", nil, "it was not complete within 10s"},
		{"half a handshake", half, "it was not complete within 10s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := serveInTime(t, true, ok)
				log := &logtest.Buffer{}
				s.certs.log = log.Logger(slog.LevelInfo)
				trust := p.tls
				p.tls = nil
				begin, ended := time.Now(), make(chan time.Duration)
				for range hundreds {
					c := p.dial(t)
					go func() {
						c.Write(tc.sent)
						io.Copy(io.Discard, c)
						ended <- time.Since(begin)
					}()
				}
				synctest.Wait()
				p.tls = trust
				good := p.dial(t)
				request(good, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				if took := time.Since(begin); took != 0 {
					t.Errorf("another client waited %s", took)
				}
				for range hundreds {
					if took := <-ended; took != certs.HandshakeTimeout {
						t.Errorf("ended after %s, want %s", took, certs.HandshakeTimeout)
					}
				}
				synctest.Wait()
				if got := s.series(t)["active_connections"]; got != 1 {
					t.Errorf("%g connections are active, want 1", got)
				}
				if got := log.String(); strings.Count(got, "TLS handshake failed") != 1 || !strings.Contains(got, tc.want) {
					t.Errorf("got log\n%s\nwant one warning with %q", got, tc.want)
				}
				if got := s.closedFor(t); got != "" {
					t.Errorf("counted %q: no request was waited for", got)
				}
				time.Sleep(certs.HandshakeTimeout)
				p.tls = nil
				p.dial(t).Close() // a probe of the port, which is not told
				leaver := p.dial(t)
				leaver.Write(half)
				leaver.Close()
				late := p.dial(t)
				io.Copy(io.Discard, late)
				if got := log.String(); !strings.Contains(got, fmt.Sprintf("suppressed=%d", hundreds-1)) || strings.Count(got, "the client left") != 1 {
					t.Errorf("got log\n%s\nwant what was held back, and the client that left", got)
				}
			})
		})
	}
}

// The time for the first header begins behind the handshake, however long that took.
func TestTheFirstHeaderHasItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := serveInTime(t, true, ok)
		trust := p.tls
		p.tls = nil
		raw := p.dial(t)
		begin := time.Now()
		time.Sleep(certs.HandshakeTimeout - time.Second)
		c := tls.Client(raw, trust)
		if err := c.Handshake(); err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, c)
		if took, want := time.Since(begin), certs.HandshakeTimeout-time.Second+headerTimeout; took != want {
			t.Errorf("ended after %s, want %s", took, want)
		}
		if got := s.closedFor(t); got != "header_timeout 1" {
			t.Errorf("counted %q", got)
		}
	})
}

// Probes are answered while hundreds of handshakes hang: none of them is waited for.
func TestProbesAreAnsweredWhileHandshakesHang(t *testing.T) {
	ours := certstest.New(t, "ours")
	s, _ := serveTLS(t, settings(ours.Issue("localhost", year)), http.HandlerFunc(ok))
	const hanging = 400
	for i := range hanging {
		c := dial(t, s)
		if i%2 == 0 {
			c.Write([]byte("\x16\x03\x01\x02\x00\x01\x00"))
		}
	}
	for range 20 {
		client := httpsClient(t, &tls.Config{RootCAs: ours.Pool}, "")
		if got, err := ask(t, client, s); got != "ok" || err != nil {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	waiting := func() int { // connections that were accepted and are in no request
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.silent)
	}
	if n := waiting(); n < hanging {
		t.Skipf("only %d handshakes hang: this machine needed longer than they may take", n)
	}
}

// The end of the server is not held up by clients that do not read, or have not said
// anything.
func TestTheEndWaitsForNoClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := serveInTime(t, true, func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		})
		var stuck []io.Closer
		for range 10 {
			c := p.dial(t)
			io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			stuck = append(stuck, c)
		}
		p.tls = nil
		silent := p.dial(t)
		synctest.Wait()
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that requests were running", err)
		}
		if took := time.Since(begin); took > time.Second+2*goodbyeTimeout {
			t.Errorf("the end took %s", took)
		}
		if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("a connection without a handshake: %v, want its end", err)
		}
		for _, c := range stuck {
			c.Close()
		}
	})
}
