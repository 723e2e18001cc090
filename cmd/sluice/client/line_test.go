package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/trialcert"
)

// late answers as the transport does that finds its connection closed when it comes to
// sending: it read of the end first.
type late struct{ http.RoundTripper }

func (l late) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(r)
	if err != nil {
		err = net.ErrClosed
	}
	return resp, err
}

// torn is a connection that takes nothing more behind the handshake, when the daemon has said
// its last words. They can be read as soon as somebody cares for them, until it is closed.
type torn struct {
	net.Conn
	shaken <-chan struct{}
	cared  chan struct{}
	care   sync.Once
	closed atomic.Bool
	said   sync.Once
	words  bytes.Reader
}

func (c *torn) done() bool {
	select {
	case <-c.shaken:
		return true
	default:
		return false
	}
}

func (c *torn) Write(b []byte) (int, error) {
	if !c.done() {
		return c.Conn.Write(b)
	}
	c.said.Do(func() {
		raw, _ := io.ReadAll(c.Conn)
		c.words.Reset(raw)
	})
	return 0, &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}
}

func (c *torn) Read(b []byte) (int, error) {
	if !c.done() {
		return c.Conn.Read(b)
	}
	<-c.cared
	if c.closed.Load() {
		return 0, net.ErrClosed
	}
	return c.words.Read(b)
}

func (c *torn) SetReadDeadline(time.Time) error {
	c.care.Do(func() { close(c.cared) })
	return nil
}

func (c *torn) Close() error {
	c.closed.Store(true)
	c.care.Do(func() { close(c.cared) })
	return c.Conn.Close()
}

// Behind the handshake a daemon says what it does not like about a certificate, and closes the
// connection, while the request is on its way. Whatever fails first, the reason is told.
func TestTheReasonIsToldWhateverFailsFirst(t *testing.T) {
	own, other := issue(t, time.Now(), "127.0.0.1"), issue(t, time.Now(), "127.0.0.1")
	paths, strange := files(t, own), files(t, other)
	ca, otherCert, otherKey := paths(trialcert.CAFile), strange(trialcert.ClientCertFile), strange(trialcert.ClientKeyFile)
	serverCert, serverKey := paths(trialcert.ServerCertFile), paths(trialcert.ServerKeyFile)
	addr := secure(t, own, demanding(own, 0))
	named := "; it takes those of " + authorityOf(t, own) + ")"
	const notTaken = " (it must be valid, be for clients, and be signed by an authority that the daemon knows"
	closed := func(c *Client) context.Context {
		c.http.Transport = late{c.http.Transport}
		return t.Context()
	}
	refused := func(c *Client) context.Context {
		shaken := make(chan struct{})
		c.http.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			return &line{Conn: &torn{Conn: conn, shaken: shaken, cared: make(chan struct{})}}, err
		}
		return httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{TLSHandshakeDone: func(tls.ConnectionState, error) { close(shaken) }})
	}
	for _, first := range []struct {
		name    string
		prepare func(*Client) context.Context
	}{
		{"the connection is closed", closed},
		{"nothing more can be sent", refused},
	} {
		for _, tc := range []struct {
			name, cert, key, want string
		}{
			{"a stranger's", otherCert, otherKey, "the daemon does not take the certificate in " + otherCert + ": unknown certificate authority" + notTaken + named},
			{"one that is not for clients", serverCert, serverKey, "the daemon does not take the certificate in " + serverCert + ": bad certificate" + notTaken + named},
			{"none", "", "", "the daemon asks for a certificate of the client: certificate required (name one with --cert, and its key with --key" + named},
		} {
			t.Run(first.name+", "+tc.name, func(t *testing.T) {
				c, err := New(Options{Addr: "https://" + addr, CA: ca, Cert: tc.cert, Key: tc.key})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				_, err = c.Ask(first.prepare(c), http.MethodGet, "/x", nil)
				if want := "GET " + c.Place("/x") + ": " + tc.want; err == nil || err.Error() != want || !IsLasting(err) {
					t.Errorf("got %v\nwant %s", err, want)
				}
			})
		}
	}
}

// What hangs up in clear leaves no reason but that it did.
func TestASenderOnAClosedConnectionSaysHowItEnded(t *testing.T) {
	c, err := New(Options{Addr: "http://" + lines(t, "")})
	if err != nil {
		t.Fatal(err)
	}
	c.http.Transport = late{c.http.Transport}
	_, err = c.Ask(t.Context(), http.MethodGet, "/x", nil)
	if want := "GET " + c.Place("/x") + ": EOF (" + hintTLS + ")"; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// A network may lose the reason, but then nothing else stands in its place.
func TestWhatIsNoAlertIsNoReason(t *testing.T) {
	c, err := New(Options{Addr: "https://localhost:1"})
	if err != nil {
		t.Fatal(err)
	}
	c.wanted.Store(new(tls.CertificateRequestInfo))
	for _, cause := range []error{syscall.EPIPE, syscall.ECONNRESET} {
		err := &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", cause)}
		if got, want := c.explain(err).what, "the daemon asks for a certificate of the client"; got != want {
			t.Errorf("%v: got %q, want %q", cause, got, want)
		}
	}
}
