package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/sluicehq/sluice/internal/certs/certstest"
)

const year = 365 * 24 * time.Hour

// settings are those of a certificate.
func settings(cert, key string) TLS { return TLS{Cert: cert, Key: key, MinVersion: "1.3"} }

func load(t *testing.T, log *slog.Logger, s TLS) *Certificates {
	t.Helper()
	c, err := s.Load(log)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// words collects a log.
type words struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

func (w *words) logger() *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// serveTLS starts a server with certificates that the test's end stops.
func serveTLS(t *testing.T, o TLS, h http.Handler) (*Server, *words) {
	t.Helper()
	log := &words{}
	s, err := Listen(loopback, log.logger())
	if err != nil {
		t.Fatal(err)
	}
	s.Secure(load(t, s.log, o))
	done := make(chan error, 1)
	go func() { done <- s.Serve(h) }()
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), <-done); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s, log
}

// httpsClient is a client of one protocol, "" for either.
func httpsClient(t *testing.T, c *tls.Config, proto string) *http.Client {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(proto != "HTTP/2.0")
	protocols.SetHTTP2(proto != "HTTP/1.1")
	tr := &http.Transport{Protocols: protocols, TLSClientConfig: c.Clone()}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func ask(t *testing.T, c *http.Client, s *Server) (string, error) {
	t.Helper()
	resp, err := c.Get("https://" + s.Addr().String() + "/")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("%s: did not come", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// who shows protocol, version and the client of a request.
func who(w http.ResponseWriter, r *http.Request) {
	name := "nobody"
	if len(r.TLS.PeerCertificates) > 0 {
		name = r.TLS.PeerCertificates[0].Subject.CommonName
	}
	fmt.Fprintf(w, "%s over %s, %q, for %s", r.Proto, tls.VersionName(r.TLS.Version), r.TLS.NegotiatedProtocol, name)
}

func TestProtocolsAndVersions(t *testing.T) {
	ours, other := certstest.New(t, "ours"), certstest.New(t, "other")
	modern := settings(ours.Issue("localhost", year))
	legacy, mutual := modern, modern
	legacy.MinVersion, mutual.ClientCA = "TLSv1.2", ours.File
	trust := func(change func(*tls.Config)) *tls.Config {
		c := &tls.Config{RootCAs: ours.Pool}
		if change != nil {
			change(c)
		}
		return c
	}
	shows := func(pair tls.Certificate) *tls.Config {
		return trust(func(c *tls.Config) { c.Certificates = []tls.Certificate{pair} })
	}
	for _, tc := range []struct {
		name   string
		server TLS
		client *tls.Config
		proto  string
		want   string // the answer, or a part of the error
	}{
		{"HTTP/2 is preferred", modern, trust(nil), "", `HTTP/2.0 over TLS 1.3, "h2", for nobody`},
		{"HTTP/1.1", modern, trust(func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }), "HTTP/1.1", `HTTP/1.1 over TLS 1.3, "http/1.1", for nobody`},
		{"a protocol that nobody speaks", modern, trust(func(c *tls.Config) { c.NextProtos = []string{"spdy/1"} }), "HTTP/1.1", "no application protocol"},
		{"a client without ALPN", modern, trust(func(c *tls.Config) { c.NextProtos = []string{} }), "HTTP/1.1", `HTTP/1.1 over TLS 1.3, `},
		{"1.2 where 1.3 is demanded", modern, trust(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), "", "protocol version not supported"},
		{"1.3 where 1.2 is enough", legacy, trust(nil), "", `HTTP/2.0 over TLS 1.3, "h2", for nobody`},
		{"1.2 where 1.2 is enough", legacy, trust(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), "", `HTTP/2.0 over TLS 1.2, "h2", for nobody`},
		{"1.1 where 1.2 is enough", legacy, trust(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS11, tls.VersionTLS11 }), "", "protocol version not supported"},
		{"1.2 with a suite that is not authenticated", legacy, trust(func(c *tls.Config) {
			c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA}
		}), "HTTP/1.1", "handshake failure"},
		{"another authority", modern, &tls.Config{RootCAs: other.Pool}, "", "certificate signed by unknown authority"},
		{"a client certificate", mutual, shows(ours.Pair("agent", time.Hour)), "", `HTTP/2.0 over TLS 1.3, "h2", for agent`},
		{"no client certificate where one is demanded", mutual, trust(nil), "", "certificate required"},
		{"a client certificate of another authority", mutual, shows(other.Pair("stranger", time.Hour)), "", "unknown certificate authority"},
		{"a client certificate that has expired", mutual, shows(ours.Pair("old", -time.Minute)), "", "expired certificate"},
		{"a client certificate that nobody asked for", modern, shows(ours.Pair("agent", time.Hour)), "", `for nobody`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _ := serveTLS(t, tc.server, http.HandlerFunc(who))
			got, err := ask(t, httpsClient(t, tc.client, tc.proto), s)
			if err != nil {
				got = err.Error()
			}
			// When the server refuses a certificate of the client depends on the machine; then the connection may be gone already.
			refused := tc.server == mutual && err != nil && strings.Contains(tc.want, "certificate")
			if !refused && !strings.Contains(got, tc.want) {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestCallsOverTLS(t *testing.T) {
	ours := certstest.New(t, "ours")
	o := settings(ours.Issue("localhost", year))
	o.ClientCA = ours.File
	s, _ := serveTLS(t, o, http.HandlerFunc(ok))
	service := grpc.NewServer()
	defer service.Stop()
	healthpb.RegisterHealthServer(service, health.NewServer())
	s.MountCalls(service)
	conn, err := grpc.NewClient(s.Addr().String(), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		RootCAs: ours.Pool, Certificates: []tls.Certificate{ours.Pair("agent", time.Hour)},
	})))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	reply, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || reply.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("got %v, %v, want SERVING", reply, err)
	}
}

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

func TestRenewedCertificates(t *testing.T) {
	ours, other := certstest.New(t, "ours"), certstest.New(t, "other")
	cert, key := ours.Issue("first", time.Hour)
	o := settings(cert, key)
	o.ClientCA = t.TempDir() + "/ca.pem"
	copyFile(t, ours.File, o.ClientCA)
	s, _ := serveTLS(t, o, http.HandlerFunc(who))
	cache := tls.NewLRUClientSessionCache(8)
	dial := func(client tls.Certificate) (c *tls.Conn, state tls.ConnectionState, err error) {
		c, err = tls.Dial("tcp", s.Addr().String(), &tls.Config{
			RootCAs: ours.Pool, Certificates: []tls.Certificate{client}, ClientSessionCache: cache, ServerName: "127.0.0.1",
		})
		if err != nil {
			return nil, state, err
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(2 * time.Minute))
		// A request reads the tickets, and an alert about the client's certificate.
		if _, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err == nil {
			_, err = c.Read(make([]byte, 1))
		}
		return c, c.ConnectionState(), err
	}
	check := func(name, serves string, resumed bool) *tls.Conn {
		t.Helper()
		c, state, err := dial(ours.Pair("agent", time.Hour))
		if err != nil || state.PeerCertificates[0].Subject.CommonName != serves || state.DidResume != resumed {
			t.Fatalf("%s: got %v, resumed %t, %v, want %s and %t", name, state.PeerCertificates, state.DidResume, err, serves, resumed)
		}
		return c
	}
	renew := func() {
		t.Helper()
		publish, err := s.Certificates().Renew()
		if err != nil || publish == nil {
			t.Fatalf("got %v, want something new", err)
		}
		publish()
	}
	old := check("at the start", "first", false)
	check("a session is resumed", "first", true)
	if publish, err := s.Certificates().Renew(); publish != nil || err != nil || s.Certificates().Stale() {
		t.Errorf("unchanged files are something new (%v)", err)
	}

	ours.Renew("second", year, cert, key)
	if !s.Certificates().Stale() {
		t.Error("changed files are not noticed")
	}
	check("before it is published", "first", true)
	renew()
	check("sessions do not outlive the certificate", "second", false)
	if _, err := io.WriteString(old, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Errorf("an open connection: %v", err)
	}
	if rest, err := io.ReadAll(old); err != nil || strings.Count(string(rest), "200 OK") != 2 {
		t.Errorf("an open connection got %q, %v, want an answer", rest, err)
	}

	for _, tc := range []struct {
		name, path, text, want string
	}{
		{"a key that is half written", key, "-----BEGIN", "holds nothing in PEM"},
		{"a certificate that is empty", cert, "", "is empty"},
		{"a bundle that is none", o.ClientCA, "none", "holds nothing in PEM"},
	} {
		was, err := os.ReadFile(tc.path)
		if err != nil {
			t.Fatal(err)
		}
		certstest.Write(t, tc.path, []byte(tc.text))
		if _, err := s.Certificates().Renew(); err == nil || !strings.Contains(err.Error(), tc.path+": the file "+tc.want) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
		check(tc.name, "second", true)
		certstest.Write(t, tc.path, was)
	}

	// A session that began under the old bundle does not get past the new one.
	check("before the bundle changes", "second", true)
	copyFile(t, other.File, o.ClientCA)
	renew()
	if _, _, err := dial(ours.Pair("agent", time.Hour)); err == nil {
		t.Error("a client of the old bundle got in")
	}
	if _, state, err := dial(other.Pair("agent", time.Hour)); err != nil || state.DidResume {
		t.Errorf("a client of the new bundle: resumed %t, %v", state.DidResume, err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	certstest.Write(t, to, data)
}

func TestExpiryIsWarnedOf(t *testing.T) {
	const day = 24 * time.Hour
	ours := certstest.New(t, "ours")
	c := load(t, quiet(), settings(ours.Issue("localhost", 100*day)))
	end := c.leaf().NotAfter
	for _, tc := range []struct {
		name string
		left time.Duration
		want string
	}{
		{"100 days", 100 * day, ""},
		{"exactly 30 days", 30 * day, ""},
		{"a nanosecond less", 30*day - 1, "the certificate of the API expires in 29 days"},
		{"two days", 2 * day, "the certificate of the API expires in 2 days"},
		{"a day and a bit", day + 1, "the certificate of the API expires in 1 days"},
		{"a moment", 1, "the certificate of the API expires in less than a day"},
		{"its last moment", 0, "the certificate of the API expires in less than a day"},
		{"past", -1, "the certificate of the API has expired: clients refuse it"},
	} {
		log := &words{}
		c.log = log.logger()
		c.Warn(end.Add(-tc.left))
		if got := c.Expiry(end.Add(-tc.left)); got != tc.want || strings.Contains(log.String(), "level=WARN") != (tc.want != "") || !strings.Contains(log.String(), tc.want) {
			t.Errorf("%s: got %q and log %q, want %q", tc.name, got, log.String(), tc.want)
		}
	}
}

func TestFaultsOfTheFilesRefuseTheStart(t *testing.T) {
	ours := certstest.New(t, "ours")
	cert, key := ours.Issue("localhost", year)
	for _, tc := range []struct {
		name string
		o    TLS
		want string
	}{
		{"a certificate that is missing", TLS{Cert: "/no/cert", Key: key, MinVersion: "1.3"}, "Failed to initialize TLS: /no/cert: no such file or directory"},
		{"a key that is missing", TLS{Cert: cert, Key: "/no/key", MinVersion: "1.3"}, "Failed to initialize TLS: /no/key: no such file or directory"},
		{"a bundle that is missing", TLS{Cert: cert, Key: key, ClientCA: "/no/ca", MinVersion: "1.3"}, "Failed to initialize TLS: /no/ca: no such file or directory"},
		{"a bundle of keys", TLS{Cert: cert, Key: key, ClientCA: key, MinVersion: "1.3"}, "Failed to initialize TLS: " + key + ": the file holds no certificate, but: PRIVATE KEY"},
		{"all at once", TLS{Cert: "/no/cert", Key: "/no/key", ClientCA: "/no/ca", MinVersion: "1.3"}, "Failed to initialize TLS: /no/cert: no such file or directory\n/no/key: no such file or directory\n/no/ca: no such file or directory"},
	} {
		if _, err := tc.o.Load(quiet()); err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}

// series are those of TLS, by name without the prefix.
func (s *Server) series(t *testing.T) map[string]float64 {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	if err := s.Register(reg); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]float64)
	for _, f := range families {
		if name, ok := strings.CutPrefix(f.GetName(), "tls_"); ok {
			out[name] = f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return out
}

func TestSeriesOfTLS(t *testing.T) {
	if got := serve(t, loopback, http.HandlerFunc(ok)).series(t); len(got) != 0 {
		t.Errorf("without TLS there are %v, want none", got)
	}
	ours := certstest.New(t, "ours")
	s, _ := serveTLS(t, settings(ours.Issue("localhost", year)), http.HandlerFunc(ok))
	active := func(want float64) {
		t.Helper()
		eventually(t, fmt.Sprintf("%g active connections", want), func() bool { return s.series(t)["active_connections"] == want })
	}
	if left := s.series(t)["certificate_expiry_seconds"]; left > 31_536_000 || left < 31_536_000-300 {
		t.Errorf("%g seconds are left, want nearly 31536000", left)
	}
	if c, err := tls.Dial("tcp", s.Addr().String(), &tls.Config{}); err == nil {
		c.Close()
		t.Error("an unknown authority is trusted")
	}
	silent := dial(t, s)
	active(0)
	if _, err := ask(t, httpsClient(t, &tls.Config{RootCAs: ours.Pool}, ""), s); err != nil {
		t.Fatal(err)
	}
	active(1)
	c, err := tls.Dial("tcp", s.Addr().String(), &tls.Config{RootCAs: ours.Pool})
	if err != nil {
		t.Fatal(err)
	}
	active(2)
	c.Close()
	silent.Close()
	active(1)

	past := load(t, quiet(), settings(ours.Issue("localhost", -time.Hour)))
	s.certs.serving.Store(past.serving.Load())
	if left := s.series(t)["certificate_expiry_seconds"]; left > -3600 {
		t.Errorf("%g seconds are left of a certificate that has expired", left)
	}
	s.Close()
	active(0)
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
				log := &words{}
				s.certs.log = log.logger()
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
					if took := <-ended; took != handshakeTimeout {
						t.Errorf("ended after %s, want %s", took, handshakeTimeout)
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
				time.Sleep(handshakeTimeout)
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
		time.Sleep(handshakeTimeout - time.Second)
		c := tls.Client(raw, trust)
		if err := c.Handshake(); err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, c)
		if took, want := time.Since(begin), handshakeTimeout-time.Second+headerTimeout; took != want {
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

// The answer to a client whose certificate is refused does not depend on the path.
func TestNoPathIsExemptFromClientCertificates(t *testing.T) {
	ours := certstest.New(t, "ours")
	o := settings(ours.Issue("localhost", year))
	o.ClientCA = ours.File
	s, _ := serveTLS(t, o, http.HandlerFunc(ok))
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/api/v1/status"} {
		resp, err := httpsClient(t, &tls.Config{RootCAs: ours.Pool}, "").Get("https://" + s.Addr().String() + path)
		if err == nil {
			resp.Body.Close()
			t.Errorf("%s answers without a certificate", path)
		}
		var unknown x509.UnknownAuthorityError
		if errors.As(err, &unknown) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
