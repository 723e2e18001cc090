package egress

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Options are what clients differ in. The zero value is a client of the default policy
// that follows no redirect.
type Options struct {
	Policy    Policy
	TLS       *tls.Config // as TLS.Load gives it; nil for the system roots
	UserAgent string      // of requests that have none

	// Redirects is how many are followed in a row; one more is an error. With 0 a
	// redirect is the response, as any other.
	Redirects int

	// Resolver resolves names; nil is net.DefaultResolver.
	Resolver Resolver
	// Proxies are the proxies and who is reached without them; nil is what the
	// environment says now.
	Proxies *httpproxy.Config
}

// Limits of every client.
const (
	dialTimeout      = 30 * time.Second
	handshakeTimeout = 10 * time.Second
	idleTimeout      = 90 * time.Second
	pingAfter        = 15 * time.Second // without a frame, a connection of HTTP/2 is tested, and closed if it is dead
	idlePerHost      = 16
	idleTotal        = 256
	maxHeaderBytes   = 256 << 10 // of a response
)

// NewClient returns a client that keeps connections. It sets no limit of time: the
// contexts of the requests do. Its errors are those of http.Client; a denial is a
// *Denied within them.
//
// Redirects that are followed drop every header of the request as soon as scheme, host
// or port differ from the first request's, and for good; one that would send a body
// there is an error. Requests never tell the page that led to them.
func NewClient(o Options) *http.Client { return newClient(o, newGuard(o.Policy, o.Resolver)) }

func newClient(o Options, guard *guard) *http.Client {
	proxies := o.Proxies
	if proxies == nil {
		proxies = httpproxy.FromEnvironment()
	}
	transport := &http.Transport{
		Proxy:                  guard.proxy(proxies.ProxyFunc()),
		DialContext:            guard.dial,
		TLSClientConfig:        o.TLS.Clone(), // the transport adds its protocols
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    handshakeTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           idleTotal,
		MaxIdleConnsPerHost:    idlePerHost,
		MaxResponseHeaderBytes: maxHeaderBytes,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter},
	}
	return &http.Client{
		Transport:     &agent{transport, o.UserAgent},
		CheckRedirect: follow(o.Redirects),
	}
}

// agent is a transport that says who asks.
type agent struct {
	*http.Transport
	name string
}

// RoundTrip implements http.RoundTripper.
func (a *agent) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, set := r.Header["User-Agent"]; !set && a.name != "" {
		r = r.Clone(r.Context())
		r.Header.Set("User-Agent", a.name)
	}
	return a.Transport.RoundTrip(r)
}

var errBodyElsewhere = errors.New("a redirect to another scheme, host or port would send the body there")

// follow is the CheckRedirect of a client that follows so many redirects.
func follow(most int) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, before []*http.Request) error {
		switch {
		case most == 0:
			return http.ErrUseLastResponse
		case len(before) > most:
			return fmt.Errorf("stopped after %d redirects", most)
		}
		if before[0].Header["Referer"] == nil {
			r.Header.Del("Referer")
		}
		first := origin(before[0].URL)
		for _, hop := range append(before[1:len(before):len(before)], r) {
			if origin(hop.URL) == first {
				continue
			}
			if r.Body != nil && r.Body != http.NoBody {
				return errBodyElsewhere
			}
			clear(r.Header)
			break
		}
		return nil
	}
}

// origin is scheme, host and port of a URL, the port always told.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + canonicalHost(u.Hostname()) + ":" + port
}
