package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/logtest"
)

// failuresOf are the failed handshakes by reason, those that are not zero.
func (s *Server) failuresOf(t *testing.T) (text string, series int) {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	if err := s.Register(reg); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "tls_handshake_failures_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			series++
			if n := m.GetCounter().GetValue(); n > 0 {
				text += fmt.Sprintf("%s %g ", m.GetLabel()[0].GetValue(), n)
			}
		}
	}
	return strings.TrimSpace(text), series
}

// One cause does not hide another, and each is told with its client.
func TestEachCauseOfAFailedHandshakeIsTold(t *testing.T) {
	ours, other := certstest.New(t, "ours"), certstest.New(t, "other")
	o := settings(ours.Issue("localhost", year))
	o.ClientCA = ours.File
	s, log := serveTLS(t, o, http.HandlerFunc(ok))
	if got, n := s.failuresOf(t); got != "" || n != len(reasons) {
		t.Errorf("at the start: %q in %d series, want all at zero", got, n)
	}
	shake := func(c *tls.Config) {
		conn, err := tls.Dial("tcp", s.Addr().String(), c)
		if err != nil {
			return
		}
		conn.SetDeadline(time.Now().Add(time.Minute))
		conn.Read(make([]byte, 1)) // the alert about the client's certificate
		conn.Close()
	}
	shows := func(a *certstest.Authority, end time.Duration) *tls.Config {
		pair := a.Pair("agent", end) // whatever the server asks for
		return &tls.Config{RootCAs: ours.Pool, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }}
	}
	for range 2 {
		shake(&tls.Config{RootCAs: ours.Pool})                                 // no certificate
		shake(shows(other, time.Hour))                                         // of an unknown authority
		shake(shows(ours, -time.Minute))                                       // that has expired
		shake(&tls.Config{RootCAs: other.Pool})                                // the client distrusts the server
		shake(&tls.Config{RootCAs: ours.Pool, MaxVersion: tls.VersionTLS12})   // a version
		shake(&tls.Config{RootCAs: ours.Pool, NextProtos: []string{"spdy/1"}}) // a protocol
	}
	raw := dial(t, s)
	raw.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
	raw.Read(make([]byte, 1))
	const want = "certificate 8 plaintext 1 protocol 4"
	eventually(t, want, func() bool { got, _ := s.failuresOf(t); return got == want })
	for _, cause := range []string{
		"client didn't provide a certificate", "signed by unknown authority", "expired or is not yet valid", "the client refuses the certificate of the API: remote error: tls: ", "unsupported versions", "unsupported application protocols", "plain HTTP",
	} {
		n := 0
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, `msg="TLS handshake failed" peer=127.0.0.1:`) && strings.Contains(line, cause) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%q is told %d times, want once:\n%s", cause, n, log)
		}
	}
	for range 2 {
		if err := s.Certificates().Close(); err != nil {
			t.Error(err)
		}
	}
	for _, rest := range []string{"reason=certificate count=4\n", "reason=protocol count=2\n"} {
		if got := log.String(); strings.Count(got, `msg="further TLS handshakes failed" `+rest) != 1 {
			t.Errorf("got log\n%s\nwant %q at the end", got, rest)
		}
	}
}

// Without TLS there is nothing to count.
func TestWithoutTLSNoHandshakesAreCounted(t *testing.T) {
	if got, n := serve(t, loopback, http.HandlerFunc(ok)).failuresOf(t); n != 0 {
		t.Errorf("got %q in %d series, want none", got, n)
	}
}

// Clients choose a part of what is wrong, and cannot fill the log with it.
func TestCausesOfFailedHandshakesAreBounded(t *testing.T) {
	log := &logtest.Buffer{}
	c := &Certificates{log: log.Logger(slog.LevelInfo), failures: newFailures()}
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	for i := range 1000 {
		c.failed(&wire{Conn: near, begun: true}, fmt.Errorf("tls: strange %d", i))
		c.failed(&wire{Conn: near, begun: true}, errors.New("tls: unsupported versions: ["+fmt.Sprint(i)+"]"))
	}
	c.failed(&wire{Conn: near, begun: true}, &net.OpError{Op: "write", Err: errors.New("no buffer space")})
	if n := strings.Count(log.String(), "TLS handshake failed"); n != maxCauses+2 {
		t.Errorf("told %d times, want %d", n, maxCauses+2)
	}
	if !strings.Contains(log.String(), "reason=other ") {
		t.Errorf("got log\n%s\nwant the one that the network failed", log)
	}
}
