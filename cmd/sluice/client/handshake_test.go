package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/trialcert"
)

// secure serves TLS with the certificate of a set, and returns host and port.
func secure(t *testing.T, s *trialcert.Set, change func(*tls.Config)) string {
	t.Helper()
	pair, err := tls.X509KeyPair(s.ServerCert, s.ServerKey)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "nobody"
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		_, _ = io.WriteString(w, "hello "+name)
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	if change != nil {
		change(srv.TLS)
	}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

// demanding lets in the clients whose certificate a set has signed.
func demanding(s *trialcert.Set, most uint16) func(*tls.Config) {
	return func(c *tls.Config) {
		c.ClientAuth, c.ClientCAs, c.MaxVersion = tls.RequireAndVerifyClientCert, x509.NewCertPool(), most
		c.ClientCAs.AppendCertsFromPEM(s.CA)
	}
}

// ask makes a client and asks for a route; the text is the answer or the error, in which
// the address stands as ADDR.
func ask(t *testing.T, o Options) (text string, err error) {
	t.Helper()
	o.Origin, o.Variable = "--addr", "T"
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body, err := c.Ask(t.Context(), http.MethodGet, "/x", nil)
	if err != nil {
		return strings.ReplaceAll(err.Error(), c.Addr(), "ADDR"), err
	}
	return string(body), nil
}

func TestHandshakes(t *testing.T) {
	now := time.Now()
	own, other := issue(t, now, "localhost", "127.0.0.1", "::1"), issue(t, now, "localhost", "127.0.0.1")
	paths, strange := files(t, own), files(t, other)
	ca, cert, key := paths(trialcert.CAFile), paths(trialcert.ClientCertFile), paths(trialcert.ClientKeyFile)
	otherCA, otherCert, otherKey := strange(trialcert.CAFile), strange(trialcert.ClientCertFile), strange(trialcert.ClientKeyFile)
	serverCert, serverKey := paths(trialcert.ServerCertFile), paths(trialcert.ServerKeyFile)
	authority, stranger := authorityOf(t, own), authorityOf(t, other)
	ended, begins := now.Add(-48*time.Hour), now.Add(48*time.Hour)
	elsewhere, many := issue(t, now, "db.example", "10.0.0.1"), issue(t, now, "a", "b", "c", "d", "e", "f", "g")
	past, future := issue(t, ended, "127.0.0.1"), issue(t, begins, "127.0.0.1")
	caOf := func(s *trialcert.Set) string { return files(t, s)(trialcert.CAFile) }
	plain := secure(t, own, nil)
	const notAsked = "name one with --cert, and its key with --key"
	const notTaken = "it must be valid, be for clients, and be signed by an authority that the daemon knows"
	for _, tc := range []struct {
		name string
		o    Options
		want string // "GET ADDR/x: " in front when it ends with ")"
	}{
		{"the authority is named", Options{Addr: "https://" + plain, CA: ca}, "hello nobody"},
		{"without a scheme --ca says https", Options{Addr: plain, CA: ca}, "hello nobody"},
		{"the certificate of the server itself", Options{Addr: plain, CA: serverCert}, "hello nobody"},
		{
			"nobody is named",
			Options{Addr: plain, Secure: true},
			"the certificate of the daemon is signed by an unknown authority, " + authority + " (--ca names the file with the certificate of its authority)",
		},
		{
			"another authority",
			Options{Addr: plain, CA: otherCA},
			"the certificate of the daemon is signed by an unknown authority, " + authority + " (that authority is not in " + otherCA + "; --ca names the file with its certificate)",
		},
		{
			"another name",
			Options{Addr: secure(t, elsewhere, nil), CA: caOf(elsewhere)},
			`the certificate of the daemon is for "db.example", "10.0.0.1", not for "127.0.0.1" (call the daemon by one of these names with --addr, or add this one to its certificate)`,
		},
		{
			"another of many names",
			Options{Addr: secure(t, many, nil), CA: caOf(many)},
			`the certificate of the daemon is for "a", "b", "c", "d", "e", ..., not for "127.0.0.1" (call the daemon by one of these names with --addr, or add this one to its certificate)`,
		},
		{
			"expired",
			Options{Addr: secure(t, past, nil), CA: caOf(past)},
			"the certificate of the daemon expired at " + past.End.Format(time.RFC3339) + " (renew it, and reload the daemon)",
		},
		{
			"not valid yet",
			Options{Addr: secure(t, future, nil), CA: caOf(future)},
			"the certificate of the daemon is not valid before " + begins.Add(-time.Hour).UTC().Format(time.RFC3339) + " (is the clock of this machine right?)",
		},
		{
			"a certificate for clients",
			Options{Addr: secure(t, &trialcert.Set{ServerCert: own.ClientCert, ServerKey: own.ClientKey}, nil), CA: ca},
			"the certificate of the daemon has no name that counts; a common name alone does not (it needs the subject alternative name \"127.0.0.1\")",
		},
		{
			"no version in common",
			Options{Addr: secure(t, own, func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }), CA: ca},
			"the daemon refuses the handshake: tls: protocol version not supported (its settings of TLS say which versions and names it takes)",
		},
		{"a certificate of the client", Options{Addr: secure(t, own, demanding(own, 0)), CA: ca, Cert: cert, Key: key}, "hello Sluice trial client"},
		{"a certificate of the client, TLS 1.2", Options{Addr: secure(t, own, demanding(own, tls.VersionTLS12)), CA: ca, Cert: cert, Key: key}, "hello Sluice trial client"},
		{"a certificate that nobody asks for", Options{Addr: plain, CA: ca, Cert: cert, Key: key}, "hello nobody"},
		{
			"a certificate is demanded",
			Options{Addr: secure(t, own, demanding(own, 0)), CA: ca},
			"the daemon asks for a certificate of the client: certificate required (" + notAsked + "; it takes those of " + authority + ")",
		},
		{
			"a certificate is demanded, TLS 1.2",
			Options{Addr: secure(t, own, demanding(own, tls.VersionTLS12)), CA: ca},
			"the daemon asks for a certificate of the client: handshake failure (" + notAsked + "; it takes those of " + authority + ")",
		},
		{
			"a certificate of a stranger",
			Options{Addr: secure(t, own, demanding(own, 0)), CA: ca, Cert: otherCert, Key: otherKey},
			"the daemon does not take the certificate in " + otherCert + ": unknown certificate authority (" + notTaken + "; it takes those of " + authority + ")",
		},
		{
			"a certificate of a stranger, TLS 1.2",
			Options{Addr: secure(t, own, demanding(other, tls.VersionTLS12)), CA: ca, Cert: cert, Key: key},
			"the daemon does not take the certificate in " + cert + ": unknown certificate authority (" + notTaken + "; it takes those of " + stranger + ")",
		},
		{
			"a certificate that is not for clients",
			Options{Addr: secure(t, own, demanding(own, 0)), CA: ca, Cert: serverCert, Key: serverKey},
			"the daemon does not take the certificate in " + serverCert + ": bad certificate (" + notTaken + "; it takes those of " + authority + ")",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ask(t, tc.o)
			want := tc.want
			if strings.HasSuffix(want, ")") {
				want = "GET ADDR/x: " + want
			}
			if got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
			if err != nil && !IsLasting(err) {
				t.Error("it is no fault that lasts")
			}
		})
	}
}

// authorityOf is the name of a set's authority, in quotes.
func authorityOf(t *testing.T, s *trialcert.Set) string {
	t.Helper()
	pair, err := tls.X509KeyPair(s.ServerCert, s.ServerKey)
	if err != nil {
		t.Fatal(err)
	}
	return quoted(pair.Leaf.Issuer)
}

// A daemon that answers once has been reached: what it does later is not about its
// certificate.
func TestACertificateIsNotBlamedOnceTheDaemonHasAnswered(t *testing.T) {
	own := issue(t, time.Now(), "127.0.0.1")
	asks := func(c *tls.Config) { c.ClientAuth = tls.RequestClientCert }
	addr := secure(t, own, asks)
	c, err := New(Options{Addr: addr, CA: files(t, own)(trialcert.CAFile)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if body, err := c.Ask(t.Context(), http.MethodGet, "/x", nil); err != nil || string(body) != "hello nobody" {
		t.Fatalf("got %s, %v", body, err)
	}
	if got := c.explain(io.EOF); got.what != "" || got.hint != "" {
		t.Errorf("got %+v, want nothing", got)
	}
}

// lines serves connections that it says something on, or nothing, before it closes them.
func lines(t *testing.T, say string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			if _, err := c.Read(make([]byte, 4096)); err == nil {
				_, _ = io.WriteString(c, say)
			}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = ln.Close()
		<-done
	})
	return ln.Addr().String()
}

func TestPlaintextAndTLSThatMeet(t *testing.T) {
	own := issue(t, time.Now(), "127.0.0.1")
	ca := files(t, own)(trialcert.CAFile)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	plainAddr := plain.Listener.Addr().String()
	const toPlain = " (if the daemon serves plaintext, call it with http:// and without --ca, --cert and --key)"
	const toTLS = " (if the daemon serves TLS, call it with https://, and name its authority with --ca)"
	for _, tc := range []struct {
		name string
		o    Options
		want string // regular expression
	}{
		{"TLS against plaintext", Options{Addr: plainAddr, CA: ca}, "what answers there does not speak TLS" + toPlain},
		{"TLS against another protocol", Options{Addr: lines(t, "220 mail.example ESMTP\r\n"), CA: ca}, "what answers there does not speak TLS" + toPlain},
		{"TLS against what hangs up", Options{Addr: lines(t, ""), CA: ca}, "the connection was closed during the handshake of TLS: (EOF|connection reset by peer)" + toPlain},
		{
			"plaintext against TLS",
			Options{Addr: secure(t, own, nil)},
			`400 Bad Request (the daemon serves TLS: call it with https://, and name its authority with --ca)`,
		},
		{"plaintext against TLS that sends an alert", Options{Addr: lines(t, "\x15\x03\x01\x00\x02\x02\x0a")}, "what answers there speaks TLS" + toTLS},
		{"plaintext against what hangs up", Options{Addr: lines(t, "")}, ".*(EOF|connection reset by peer|broken pipe)" + toTLS},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, _ := ask(t, tc.o)
			pattern := "^GET ADDR/x: " + strings.NewReplacer("(if", `\(if`, "(the daemon", `\(the daemon`, "--ca)", `--ca\)`, "--key)", `--key\)`).Replace(tc.want) + "$"
			if !regexp.MustCompile(pattern).MatchString(got) {
				t.Errorf("got %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestADaemonThatSaysNothingIsGivenUp(t *testing.T) {
	for _, tc := range []struct {
		name, addr string
		connects   bool
		after      time.Duration
		want       string
	}{
		{"plaintext", "http://127.0.0.1:1", true, 30 * time.Second, "no answer within 30s (its log says what the daemon is busy with; --addr says where it is)"},
		{
			"TLS", "https://127.0.0.1:1", true, 10 * time.Second,
			"the handshake of TLS came to no end (if the daemon serves plaintext, call it with http:// and without --ca, --cert and --key)",
		},
		{"no connection at all", "http://127.0.0.1:1", false, 10 * time.Second, "no connection within 10s (is the daemon running? --addr says where)"},
		{"a unix socket", "unix:///s", true, 30 * time.Second, "no answer within 30s (its log says what the daemon is busy with; --addr says where it is)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := New(Options{Addr: tc.addr, Timeout: 30 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				begun := time.Now()
				c.http.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
					if !tc.connects {
						time.Sleep(connectTimeout)
						return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
					}
					here, there := net.Pipe()
					go func() { _, _ = io.Copy(io.Discard, there) }()
					return here, nil
				}
				_, err = c.Ask(t.Context(), http.MethodGet, "/x", nil)
				if want := "GET " + c.Place("/x") + ": " + tc.want; err == nil || err.Error() != want {
					t.Errorf("got %v\nwant %s", err, want)
				}
				if took := time.Since(begun); took != tc.after {
					t.Errorf("given up after %s, want %s", took, tc.after)
				}
				if IsLasting(err) {
					t.Error("it is a fault that lasts")
				}
			})
		})
	}
}

func TestFaultsOfACertificateThatFewMeet(t *testing.T) {
	c, err := New(Options{Addr: "https://localhost:1"})
	if err != nil {
		t.Fatal(err)
	}
	leaf := authorityCertificate(t)
	leaf.NotBefore, leaf.NotAfter = time.Unix(0, 0), time.Unix(60, 0)
	for _, tc := range []struct {
		name       string
		err        error
		what, hint string
	}{
		{
			"an authority that has expired",
			x509.CertificateInvalidError{Cert: leaf, Reason: x509.Expired},
			"the certificate of its authority " + quoted(leaf.Subject) + " expired at 1970-01-01T00:01:00Z", "renew it, and reload the daemon",
		},
		{
			"a system without roots",
			x509.SystemRootsError{},
			"the certificate of the daemon is not taken: x509: failed to load system roots and no roots provided",
			"the system has no roots that can be read; --ca names the file with the certificate of the daemon's authority",
		},
		{
			"another fault",
			x509.CertificateInvalidError{Cert: leaf, Reason: x509.IncompatibleUsage},
			"the certificate of the daemon is not taken: x509: certificate specifies an incompatible key usage", "",
		},
		{
			"a name that would steer a terminal",
			x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a\x1b[2J"}}, Host: "b"},
			`the certificate of the daemon is for "a [2J", not for "b"`, "call the daemon by one of these names with --addr, or add this one to its certificate",
		},
	} {
		got := c.explain(&tls.CertificateVerificationError{Err: tc.err})
		if got.what != tc.what || got.hint != tc.hint || !got.lasting {
			t.Errorf("%s: got %+v\nwant %s (%s)", tc.name, got, tc.what, tc.hint)
		}
	}
}

func authorityCertificate(t *testing.T) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(issue(t, time.Now(), "localhost").CA)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}
