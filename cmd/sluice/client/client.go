package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

const (
	connectTimeout = 10 * time.Second
	maxAnswer      = 64 << 20
)

// Options say which daemon is asked, and how.
type Options struct {
	Addr     string // host:port, a URL, or unix:///path
	Origin   string // who named the address, for errors: --addr
	Secure   bool   // an address without a scheme means https; CA and Cert say so, too
	CA       string // file of the only roots that count; "" for those of the system
	Cert     string // file of the client's certificate, "" for none
	Key      string // file of its key
	Token    string // what the variable holds; blank for none
	Variable string // the name of the variable
	Timeout  time.Duration
	Through  http.RoundTripper // takes the place of connections; nil for real ones
}

// Client asks one daemon. It is for one goroutine at a time.
type Client struct {
	http     http.Client
	at       address
	origin   string
	token    string
	variable string
	ca, cert string

	conn     net.Conn                                   // of the last request
	answered bool                                       // something answered on HTTP
	wanted   atomic.Pointer[tls.CertificateRequestInfo] // what the daemon said when it asked for a certificate
	shaken   atomic.Bool                                // a handshake of TLS came to its end
}

// New checks the options and reads the files. It connects to nothing.
func New(o Options) (*Client, error) {
	c := &Client{origin: o.Origin, variable: o.Variable, ca: o.CA, cert: o.Cert}
	var err error
	if c.at, err = parseAddress(o.Addr, o.Secure || o.CA != "" || o.Cert != ""); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Origin, err)
	}
	if c.token, err = readToken(o.Variable, o.Token); err != nil {
		return nil, err
	}
	settings, err := loadTLS(o.CA, o.Cert, o.Key)
	if err != nil {
		return nil, err
	}
	if !c.at.tls() && (o.CA != "" || o.Cert != "") {
		if c.at.socket != "" {
			return nil, fmt.Errorf("--ca, --cert and --key are for https, and %s is a unix socket, which has no TLS: leave them out", c.at)
		}
		return nil, fmt.Errorf("--ca, --cert and --key are for https, and %s is not: call the daemon with https://", c.at)
	}
	c.http = http.Client{
		Timeout: o.Timeout, Transport: o.Through,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if o.Through == nil {
		c.http.Transport = c.transport(settings)
	}
	return c, nil
}

func (c *Client) transport(settings *tls.Config) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout}
	t := &http.Transport{TLSHandshakeTimeout: connectTimeout, DisableCompression: true}
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if c.at.socket != "" {
			network, addr = "unix", c.at.socket
		}
		conn, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &line{Conn: conn}, nil
	}
	if c.at.socket != "" {
		return t
	}
	t.Proxy = http.ProxyFromEnvironment
	// The daemon learns of the certificate whatever authorities it says it takes: what it
	// then answers is more than that there is none.
	own := settings.Certificates
	settings.Certificates = nil
	settings.GetClientCertificate = func(r *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		c.wanted.Store(r)
		if len(own) == 0 {
			return new(tls.Certificate), nil
		}
		return &own[0], nil
	}
	settings.VerifyConnection = func(tls.ConnectionState) error {
		c.shaken.Store(true)
		return nil
	}
	t.TLSClientConfig = settings
	return t
}

// Close ends the connections that wait for a further request.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Addr is the address that is called.
func (c *Client) Addr() string { return c.at.String() }

// Place names a path of the API at this daemon, for messages.
func (c *Client) Place(path string) string { return c.at.place(path) }

// Warning says that the token can be read by others on its way; "" when it cannot.
func (c *Client) Warning() string {
	if c.token == "" || !c.at.exposed() {
		return ""
	}
	return fmt.Sprintf("the token in %s goes to %s in clear: whoever can read what is sent there can use it; call the daemon with https://", c.variable, c.at.base.Host)
}

// Send sends a request and returns the answer, whatever its status. The caller closes its
// body. An error is a Fault.
func (c *Client) Send(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Response, error) {
	at := c.at.base.String() + path
	c.conn = nil
	got := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { c.conn = i.Conn }})
	req, err := http.NewRequestWithContext(got, method, at, body)
	if err != nil {
		return nil, &Fault{Lasting: true, text: err.Error(), err: err}
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.fault(ctx, method, path, err)
	}
	c.answered = true
	return resp, nil
}

// Ask sends a request, with a body of JSON unless it is nil, and returns the body of a good
// answer. An error is a Fault.
func (c *Client) Ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	contentType := ""
	if body != nil {
		contentType = "application/json"
	}
	resp, err := c.Send(ctx, method, path, contentType, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // the body has been read
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(answer) > maxAnswer {
		err = fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	if err != nil {
		return nil, &Fault{text: fmt.Sprintf("%s %s: %s: %s", method, c.Place(path), status(resp), printable(err.Error())), err: err}
	}
	if resp.StatusCode/100 != 2 {
		return nil, c.Refusal(resp, answer)
	}
	return answer, nil
}

// Unreadable is the fault of a good answer that does not tell what it should.
func (c *Client) Unreadable(method, path string, err error) error {
	return &Fault{text: fmt.Sprintf("%s %s: 200 OK: unreadable answer: %s", method, c.Place(path), printable(err.Error())), err: err}
}

// Fault is why a daemon gave no good answer, and what to do about it.
type Fault struct {
	Status  int  // of the answer; 0 without one
	Lasting bool // it will be the same the next time
	text    string
	err     error
}

func (f *Fault) Error() string { return f.text }
func (f *Fault) Unwrap() error { return f.err }

// IsLasting reports whether an error is a fault that asking again does not mend.
func IsLasting(err error) bool {
	var f *Fault
	return errors.As(err, &f) && f.Lasting
}
