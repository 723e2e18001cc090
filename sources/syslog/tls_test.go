package syslog

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/certs/certstest"
)

// deliver sends messages over TLS. The error is that of the handshake, or of what the
// source answered to it.
func deliver(t *testing.T, i *input, c *tls.Config, text string) (shown *tls.ConnectionState, err error) {
	t.Helper()
	conn := dial(t, i, c).(*tls.Conn)
	if err := conn.Handshake(); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, text); err != nil {
		return nil, err
	}
	if err := conn.CloseWrite(); err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		return nil, err
	}
	state := conn.ConnectionState()
	return &state, nil
}

func TestMessagesComeOverTLS(t *testing.T) {
	authority := certstest.New(t, "syslog")
	cert, key := authority.Issue("localhost", year)
	i := open(t, TLS, Files{Cert: cert, Key: key}).run(t)
	large := "<1>" + strings.Repeat("x", 100_000)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		c := &tls.Config{RootCAs: authority.Pool, ServerName: "localhost", MaxVersion: version}
		if _, err := deliver(t, i, c, "5 <1>ab4 <1>c"+counted(large)+"<1>line\n"); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"<1>ab", "<1>c", large, "<1>line"}
	if got := i.in.Lines(); !slices.Equal(got, append(want, want...)) {
		t.Errorf("got %.100q, want %.100q twice", got, want)
	}
	if got := i.count(t, "syslog_messages_total", "tls"); got != 8 {
		t.Errorf("%g messages are counted, want 8", got)
	}
	old := &tls.Config{RootCAs: authority.Pool, ServerName: "localhost", MinVersion: tls.VersionTLS11, MaxVersion: tls.VersionTLS11}
	if _, err := deliver(t, i, old, "5 <1>ab"); err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("TLS 1.1: got %v, want its refusal", err)
	}
}

func TestSendersShowTheirCertificates(t *testing.T) {
	ours, other := certstest.New(t, "ours"), certstest.New(t, "other")
	cert, key := ours.Issue("localhost", year)
	i := open(t, TLS, Files{Cert: cert, Key: key, ClientCA: ours.File}).run(t)
	for _, tc := range []struct {
		name  string
		certs []tls.Certificate
		fails bool
	}{
		{"one that leads to the root", []tls.Certificate{ours.Pair("sender", year)}, false},
		{"none", nil, true},
		{"one of another root", []tls.Certificate{other.Pair("sender", year)}, true},
		{"one that has expired", []tls.Certificate{ours.Pair("sender", -time.Hour)}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := deliver(t, i, &tls.Config{RootCAs: ours.Pool, ServerName: "localhost", Certificates: tc.certs}, "5 <1>ab")
			if (err != nil) != tc.fails {
				t.Errorf("got %v, want a refusal: %t", err, tc.fails)
			}
		})
	}
	if got, want := i.in.Lines(), []string{"<1>ab"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	until(t, "three refusals", func() bool { return i.count(t, "syslog_tls_handshake_failures_total", "certificate") == 3 })
	if !strings.Contains(i.log.String(), `level=WARN msg="TLS handshake failed" source=syslog_tls peer=127.0.0.1:`) {
		t.Errorf("the log says nothing of it: %s", i.log)
	}
}

func TestHandshakesThatFailHurtNobody(t *testing.T) {
	authority := certstest.New(t, "syslog")
	cert, key := authority.Issue("localhost", year)
	i := open(t, TLS, Files{Cert: cert, Key: key}).run(t)
	for text, reason := range map[string]string{"<1>plain text, where a handshake belongs\n": "protocol", "": "gone"} {
		c, err := net.Dial("tcp", i.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, text)
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c)
		_ = c.Close()
		until(t, reason, func() bool { return i.count(t, "syslog_tls_handshake_failures_total", reason) == 1 })
	}
	silent := dial(t, i, nil) // does not hold up the others
	if _, err := deliver(t, i, &tls.Config{RootCAs: authority.Pool, ServerName: "localhost"}, "5 <1>ab"); err != nil {
		t.Error(err)
	}
	_ = silent
}

func TestRenewedCertificatesAreUsed(t *testing.T) {
	authority, next := certstest.New(t, "before"), certstest.New(t, "after")
	cert, key := authority.Issue("localhost", year)
	i := open(t, TLS, Files{Cert: cert, Key: key}).run(t)
	serial := func(a *certstest.Authority) string {
		t.Helper()
		state, err := deliver(t, i, &tls.Config{RootCAs: a.Pool, ServerName: "localhost"}, "5 <1>ab")
		if err != nil {
			t.Fatal(err)
		}
		return state.PeerCertificates[0].SerialNumber.String()
	}
	first := serial(authority)
	if again := serial(authority); again != first {
		t.Errorf("another certificate although the files are the same: %s and %s", first, again)
	}
	next.Renew("localhost", year, cert, key)
	second := serial(next)
	if second == first {
		t.Error("the renewed certificate is not used")
	}
	if err := os.WriteFile(cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if now := serial(next); now != second {
		t.Errorf("a file that cannot be used: got certificate %s, want %s as before", now, second)
	}
	if !strings.Contains(i.log.String(), "certificate of syslog inputs not renewed, the one before stays in use") {
		t.Errorf("the log says nothing of it: %s", i.log)
	}
}

func TestFilesOfTLSThatCannotBeUsed(t *testing.T) {
	authority := certstest.New(t, "syslog")
	cert, key := authority.Issue("localhost", year)
	_, otherKey := authority.Issue("localhost", year)
	for name, tc := range map[string]struct {
		files Files
		key   string
		err   string
	}{
		"none":               {Files{}, "cert", "--syslog-tls-cert"},
		"a missing file":     {Files{Cert: cert + "x", Key: key}, "cert", cert + "x"},
		"the key of another": {Files{Cert: cert, Key: otherKey}, "key", "is not the key of the certificate"},
		"roots without any":  {Files{Cert: cert, Key: key, ClientCA: key}, "client_ca", "holds no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			o, _, _ := options(t, tc.files)
			if _, err := Listen(TLS, "127.0.0.1:0", o); err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got %v, want %q", err, tc.err)
			}
			var told []string
			tc.files.Check(func(key string, err error) { told = append(told, key+": "+err.Error()) })
			if len(told) != 1 || !strings.HasPrefix(told[0], tc.key+": ") || !strings.Contains(told[0], tc.err) {
				t.Errorf("the check reports %q, want %s: %q", told, tc.key, tc.err)
			}
		})
	}
	for _, files := range []Files{{Cert: cert, Key: key}, {Cert: cert}} { // the latter is told by Validate
		files.Check(func(key string, err error) { t.Errorf("%+v: the check reports %s: %v", files, key, err) })
	}
	for name, tc := range map[string]struct {
		files Files
		key   string
	}{
		"a certificate alone": {Files{Cert: "a"}, "cert"}, "a key alone": {Files{Key: "a"}, "cert"}, "roots alone": {Files{ClientCA: "a"}, "client_ca"}, "all": {Files{"a", "b", "c"}, ""}, "nothing": {Files{}, ""},
	} {
		got := ""
		tc.files.Validate(func(key string, _ error) { got = key })
		if got != tc.key {
			t.Errorf("%s: a fault of %q, want %q", name, got, tc.key)
		}
	}
	o, log, _ := options(t, Files{})
	o.Config.TLS.Cert, o.Config.TLS.Key = authority.Issue("localhost", -time.Hour)
	s, err := Listen(TLS, "127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if !strings.Contains(log.String(), "senders of syslog will refuse the certificate") {
		t.Errorf("an expired certificate: the log says nothing of it: %s", log)
	}
}

func TestASenderOfTLSIsRefusedWhereNoneIsSpoken(t *testing.T) {
	i := open(t, TCP, Files{}).run(t)
	c := dial(t, i, nil)
	if err := tls.Client(c, &tls.Config{InsecureSkipVerify: true}).Handshake(); err == nil { //nolint:gosec // there is nothing to verify
		t.Error("the handshake succeeded")
	}
	if lines := i.in.Lines(); len(lines) != 0 {
		t.Errorf("got the messages %q, want none", lines)
	}
	if got := i.count(t, "syslog_framing_errors_total", "tls"); got != 1 {
		t.Errorf("%g faults, want 1", got)
	}
	if log := i.log.String(); !strings.Contains(log, "the stream begins like TLS") || !strings.Contains(log, "syslog+tls://") {
		t.Errorf("the log does not say what to do: %s", log)
	}
}
