package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/logtest"
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

// serveTLS starts a server with certificates that the test's end stops.
func serveTLS(t *testing.T, o TLS, h http.Handler) (*Server, *logtest.Buffer) {
	t.Helper()
	log := &logtest.Buffer{}
	s, err := Listen(loopback, log.Logger(slog.LevelInfo))
	if err != nil {
		t.Fatal(err)
	}
	certificates := load(t, s.log, o)
	certificates.failures.limit.Every = time.Hour // each cause is told once, however long a test takes
	s.Secure(certificates)
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
