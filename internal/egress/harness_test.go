package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/response"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// names is a resolver that answers each question for a name with the next of its
// answers, and the last one from then on.
type names struct {
	mu      sync.Mutex
	answers map[string][][]string
	asked   []string
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, host)
	host = strings.ToLower(host)
	answers, known := n.answers[host]
	if !known {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		n.answers[host] = answers[1:]
	}
	var list []netip.Addr
	for _, text := range answers[0] {
		list = append(list, netip.MustParseAddr(text))
	}
	return list, nil
}

func (n *names) questions() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.asked...)
}

// fixed answers every question for a name alike.
func fixed(answers map[string][]string) *names {
	n := &names{answers: make(map[string][][]string)}
	for name, list := range answers {
		n.answers[name] = [][]string{list}
	}
	return n
}

// serve runs a server for the test.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// client is NewClient without proxies unless o names some. It leaves no connection.
func client(t *testing.T, o Options) *http.Client {
	t.Helper()
	if o.Proxies == nil {
		o.Proxies = &httpproxy.Config{}
	}
	c := NewClient(o)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// get asks for a URL and returns the status and the text of the response.
func get(t *testing.T, c *http.Client, target string) (int, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, c, r)
}

func do(t *testing.T, c *http.Client, r *http.Request) (int, string, error) {
	t.Helper()
	answer, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	body, err := response.ReadBody(answer, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body), nil
}

// denial is the message of the Denied within err, else of err.
func denial(err error) string {
	var denied *Denied
	switch {
	case err == nil:
		return "allowed"
	case errors.As(err, &denied):
		return denied.Error()
	}
	return err.Error()
}

// port is the port of a server.
func port(t *testing.T, s *httptest.Server) string {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

// authority signs certificates.
type authority struct{ *certstest.Authority }

func newAuthority(t *testing.T) *authority {
	t.Helper()
	return &authority{certstest.New(t, "test authority")}
}

// pair writes the files of a certificate for a name, valid until then.
func (a *authority) pair(t *testing.T, until time.Time, name string) (cert, key string) {
	t.Helper()
	return a.Issue(name, time.Until(until))
}

// secure runs a server with a certificate for the name.
func secure(t *testing.T, a *authority, until time.Time, name string, clients *authority) *httptest.Server {
	t.Helper()
	cert, key := a.pair(t, until, name)
	loaded, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := "nobody"
		if len(r.TLS.PeerCertificates) > 0 {
			shown = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		_, _ = w.Write([]byte(r.Proto + " for " + shown))
	}))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{Certificates: []tls.Certificate{loaded}}
	if clients != nil {
		s.TLS.ClientCAs = clients.Pool
		s.TLS.ClientAuth = tls.RequireAndVerifyClientCert
	}
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}
