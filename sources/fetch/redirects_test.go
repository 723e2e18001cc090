package fetch_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/sources/fetch"
)

type resolver map[string][]netip.Addr

// LookupNetIP implements egress.Resolver.
func (r resolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return r[host], nil
}

// hops is a server whose redirects are described in its paths.
type hops struct {
	*httptest.Server
	mu   sync.Mutex // guards seen
	seen []string
}

func newHops(t *testing.T) *hops {
	t.Helper()
	h := new(hops)
	h.Server = serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		h.seen = append(h.seen, fmt.Sprintf("%s %s %s [%s] %s", r.Method, r.URL.Path, body, r.Header.Get("X-Secret"), r.UserAgent()))
		h.mu.Unlock()
		to, code := r.URL.Query().Get("to"), http.StatusFound
		_, _ = fmt.Sscan(r.URL.Query().Get("code"), &code)
		switch n := 0; {
		case to != "":
			http.Redirect(w, r, to, code)
		case strings.HasPrefix(r.URL.Path, "/left/"):
			if _, _ = fmt.Sscanf(r.URL.Path, "/left/%d", &n); n > 0 {
				http.Redirect(w, r, fmt.Sprintf("/left/%d", n-1), code)
				return
			}
			fmt.Fprint(w, "1")
		case r.URL.Path == "/loop":
			http.Redirect(w, r, "/loop", code)
		default:
			fmt.Fprint(w, "1")
		}
	})
	return h
}

func TestRedirects(t *testing.T) {
	other := newHops(t)
	for _, tc := range []struct {
		name, path, keys string
		want, err        string
		seen, elsewhere  string // the last request, and that at another port
	}{
		{"ten", "/left/10", "", "1", "", "GET /left/0  [hidden] sluice/1.2.3", ""},
		{"eleven", "/left/11", "", "", "Fetch|fetch failed: stopped after 10 redirects", "GET /left/1  [hidden] sluice/1.2.3", ""},
		{"a circle", "/loop", "", "", "Fetch|fetch failed: stopped after 10 redirects", "GET /loop  [hidden] sluice/1.2.3", ""},
		{"301 of a POST", "/?code=301&to=/end", "body: hello", "1", "", "GET /end  [hidden] sluice/1.2.3", ""},
		{"302 of a POST", "/?code=302&to=/end", "body: hello", "1", "", "GET /end  [hidden] sluice/1.2.3", ""},
		{"303 of a POST", "/?code=303&to=/end", "body: hello", "1", "", "GET /end  [hidden] sluice/1.2.3", ""},
		{"307 of a POST", "/?code=307&to=/end", "body: hello", "1", "", "POST /end hello [hidden] sluice/1.2.3", ""},
		{"308 of a POST", "/?code=308&to=/end", "body: hello", "1", "", "POST /end hello [hidden] sluice/1.2.3", ""},
		{"another port", "/?to=OTHER/end", "", "1", "", "GET /  [hidden] sluice/1.2.3", "GET /end  [] sluice/1.2.3"},
		{"another port by 302 of a POST", "/?to=OTHER/end", "body: hello", "1", "", "POST / hello [hidden] sluice/1.2.3", "GET /end  [] sluice/1.2.3"},
		{"another port by 307 of a POST", "/?code=307&to=OTHER/end", "body: hello", "", "Fetch|a redirect to another scheme, host or port would send the body there", "POST / hello [hidden] sluice/1.2.3", ""},
		{"there and back", "/?to=OTHER/%3Fto=SELF/end", "", "1", "", "GET /end  [] sluice/1.2.3", "GET /  [] sluice/1.2.3"},
		{"a file", "/?to=file:///etc/passwd", "", "", "Fetch|unsupported protocol scheme", "GET /  [hidden] sluice/1.2.3", ""},
		{"nowhere", "/?to=http://", "", "", "Fetch|", "GET /  [hidden] sluice/1.2.3", ""},
	} {
		h := newHops(t)
		other.seen = nil
		path := strings.NewReplacer("OTHER", other.URL, "SELF", h.URL).Replace(tc.path)
		got, err := ask(t, fetch.Options{}, h.URL+path, "headers: {X-Secret: hidden}, "+tc.keys)
		if got != tc.want || !fails(t, err, tc.err) {
			t.Errorf("%s: got %s, %v, want %s, %s", tc.name, got, err, tc.want, tc.err)
		}
		if h.seen[len(h.seen)-1] != tc.seen || strings.Join(other.seen, ",") != tc.elsewhere || len(h.seen) > 11 {
			t.Errorf("%s: requests %q and %q, want the last %q and %q", tc.name, h.seen, other.seen, tc.seen, tc.elsewhere)
		}
	}
}

func TestAddressesThatAreDenied(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
	})
	names := resolver{"meta.test": {netip.MustParseAddr("169.254.169.254")}, "both.test": {netip.MustParseAddr("10.1.1.1"), netip.MustParseAddr("127.0.0.1")}}
	for _, tc := range []struct {
		name, url string
		policy    egress.Policy
		want      string
	}{
		{"a literal address", "http://169.254.169.254/", "", "Fetch|fetch failed: egress policy denied link-local address 169.254.169.254"},
		{"a redirect", server.URL, egress.Default, "Fetch|fetch failed: egress policy denied link-local address 169.254.169.254"},
		{"a name", "http://meta.test/", egress.Default, "Fetch|fetch failed: egress policy denied link-local address 169.254.169.254"},
		{"a number", "http://2852039166/", egress.Default, "Fetch|fetch failed: egress policy denied link-local address 169.254.169.254"},
		{"a server of the same machine under strict", server.URL, egress.Strict, "Fetch|fetch failed: egress policy denied loopback address 127.0.0.1"},
		{"a name of denied addresses: the first is told", "http://both.test/", egress.Strict, "Fetch|fetch failed: egress policy denied private address 10.1.1.1"},
	} {
		if _, err := ask(t, fetch.Options{Policy: tc.policy, Resolver: names}, tc.url, ""); !fails(t, err, tc.want) {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}
