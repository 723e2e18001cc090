package egress

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// proxy is a proxy that answers by itself, but connects tunnels to the given address.
func proxy(t *testing.T, v *visits, to string) *httptest.Server {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			v.add(r.URL.String(), r)
			fmt.Fprint(w, "by proxy")
			return
		}
		v.add("tunnel to "+r.Host, r)
		target, err := net.Dial("tcp", to)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprint(conn, "HTTP/1.1 200 Connected\r\n\r\n")
		done := make(chan struct{})
		go func() {
			_, _ = io.Copy(target, conn)
			_ = target.(*net.TCPConn).CloseWrite()
			close(done)
		}()
		_, _ = io.Copy(conn, target)
		conn.Close()
		<-done
		target.Close()
	})
}

func TestTargetsAreJudgedBeforeAnythingGoesToAProxy(t *testing.T) {
	var v visits
	p := proxy(t, &v, "")
	resolver := fixed(map[string][]string{"metadata.example": {"169.254.169.254"}, "both.example": {"169.254.169.254", "8.8.8.8"}, "public.example": {"8.8.8.8"}, "private.example": {"10.0.0.1"}})
	for _, tc := range []struct {
		policy Policy
		target string
		want   string
		sent   bool
	}{
		{Default, "http://169.254.169.254/", "egress policy denied link-local address 169.254.169.254", false},
		{Default, "http://2852039166/", "egress policy denied link-local address 169.254.169.254", false},
		{Default, "http://0xa9.0xfe.0xa9.0xfe/", "egress policy denied link-local address 169.254.169.254", false},
		{Default, "http://\uff11\uff16\uff19.254.169.254/", "egress policy denied link-local address 169.254.169.254", false},
		{Default, "http://[::ffff:169.254.169.254]/", "egress policy denied link-local address 169.254.169.254", false},
		{Default, "https://169.254.169.254/", "egress policy denied link-local address 169.254.169.254", false},
		{Default, "http://metadata.example/", "egress policy denied link-local address 169.254.169.254", false},
		{Default, "http://256.1/", "host '256.1': the host looks like an IPv4 address, but is none", false},
		{Default, "http://both.example/", "allowed", true},
		{Default, "http://unknown.example/", "allowed", true},
		{Default, "http://private.example/", "allowed", true},
		{Permissive, "http://169.254.169.254/", "allowed", true},
	} {
		c := client(t, Options{Policy: tc.policy, Resolver: resolver, Proxies: &httpproxy.Config{HTTPProxy: p.URL, HTTPSProxy: p.URL}})
		_, body, err := get(t, c, tc.target)
		sent := len(v.take()) > 0
		if got := denial(err); !strings.HasSuffix(got, tc.want) || sent != tc.sent || sent && body != "by proxy" {
			t.Errorf("%s, %s: got %s, %q, sent to the proxy: %v, want %s, %v", tc.policy, tc.target, got, body, sent, tc.want, tc.sent)
		}
	}
}

func TestStrictJudgesNamesThatOnlyAProxyKnows(t *testing.T) {
	g := newGuard(Strict, fixed(map[string][]string{"public.example": {"8.8.8.8"}, "private.example": {"10.0.0.1"}}))
	for host, want := range map[string]string{
		"public.example":  "allowed",
		"private.example": "egress policy denied private address 10.0.0.1",
		"unknown.example": "egress policy denied private address unknown.example",
		"127.1":           "egress policy denied loopback address 127.0.0.1",
	} {
		if got := denial(g.judgeTarget(t.Context(), host)); got != want {
			t.Errorf("%s: got %s, want %s", host, got, want)
		}
	}
}

// A proxy of plain requests connects to what the header Host says.
func TestTheHeaderHostLeadsAProxyNowhereElse(t *testing.T) {
	var v visits
	p := proxy(t, &v, "")
	for _, tc := range []struct {
		name   string
		policy Policy
		host   string
		sent   bool
	}{
		{"none", Default, "", true},
		{"that of the URL", Default, "public.example", true},
		{"the same in capitals, with its port", Default, "PUBLIC.example:80", true},
		{"metadata", Default, "169.254.169.254", false},
		{"metadata, whatever is allowed", Permissive, "169.254.169.254", false},
		{"another host", Default, "other.example", false},
		{"another port", Default, "public.example:8080", false},
		{"user and host", Default, "public.example@other.example", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := client(t, Options{Policy: tc.policy, Resolver: fixed(map[string][]string{"public.example": {"8.8.8.8"}}), Proxies: &httpproxy.Config{HTTPProxy: p.URL}})
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://public.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = tc.host
			answer, err := c.Do(r)
			if err == nil {
				_ = answer.Body.Close()
			}
			if sent := len(v.take()) > 0; sent != tc.sent || errors.Is(err, errOtherHost) == tc.sent {
				t.Errorf("sent to the proxy: %v, %v, want %v", sent, err, tc.sent)
			}
		})
	}
}

func TestTheProxyIsJudgedLikeAnyAddress(t *testing.T) {
	var v visits
	p := proxy(t, &v, "")
	resolver := fixed(map[string][]string{"public.example": {"8.8.8.8"}})
	for _, tc := range []struct {
		policy Policy
		proxy  string
		want   string
	}{
		{Default, "http://169.254.1.1:3128", "egress policy denied link-local address 169.254.1.1"},
		{Default, "socks5://169.254.1.1:1080", "egress policy denied link-local address 169.254.1.1"},
		{Strict, p.URL, "egress policy denied loopback address 127.0.0.1"},
	} {
		c := client(t, Options{Policy: tc.policy, Resolver: resolver, Proxies: &httpproxy.Config{HTTPProxy: tc.proxy}})
		if _, _, err := get(t, c, "http://public.example/"); denial(err) != tc.want {
			t.Errorf("%s by %s: got %v, want %s", tc.policy, tc.proxy, err, tc.want)
		}
	}
	if got := v.take(); len(got) > 0 {
		t.Errorf("the proxy got %v", got)
	}
}

func TestProxiesOfTheEnvironment(t *testing.T) {
	var v visits
	p := proxy(t, &v, "")
	direct := serve(t, hello)
	resolver := fixed(map[string][]string{"direct.example": {"127.0.0.1"}, "public.example": {"8.8.8.8"}})
	t.Setenv("HTTP_PROXY", p.URL)
	t.Setenv("HTTPS_PROXY", "")
	t.Setenv("NO_PROXY", "direct.example")
	c := NewClient(Options{Resolver: resolver})
	t.Cleanup(c.CloseIdleConnections)
	if _, body, err := get(t, c, "http://public.example/x"); body != "by proxy" {
		t.Errorf("got %q, %v, want what the proxy says", body, err)
	}
	if _, body, err := get(t, c, "http://direct.example:"+port(t, direct)+"/"); body != "hello" {
		t.Errorf("got %q, %v, want what the server says", body, err)
	}
	if got := v.take(); !slices.Equal(got, []string{"http://public.example/x GET /x User-Agent=Go-http-client/1.1"}) {
		t.Errorf("the proxy got %q", got)
	}
}

func TestTLSGoesThroughATunnel(t *testing.T) {
	a := newAuthority(t)
	server := secure(t, a, time.Now().Add(time.Hour), "tls.example", nil)
	var v visits
	p := proxy(t, &v, server.Listener.Addr().String())
	settings, err := TLS{CA: a.File}.Load(OnlyBundle, time.Now, nil)
	if err != nil {
		t.Fatal(err)
	}
	resolver := fixed(map[string][]string{"tls.example": {"8.8.8.8"}, "metadata.example": {"169.254.169.254"}})
	c := client(t, Options{TLS: settings, Resolver: resolver, Proxies: &httpproxy.Config{HTTPSProxy: p.URL}})
	if _, body, err := get(t, c, "https://tls.example/"); body != "HTTP/2.0 for nobody" {
		t.Errorf("got %q, %v", body, err)
	}
	if _, _, err := get(t, c, "https://metadata.example/"); denial(err) != "egress policy denied link-local address 169.254.169.254" {
		t.Errorf("got %v", err)
	}
	if got := v.take(); len(got) != 1 || !strings.HasPrefix(got[0], "tunnel to tls.example:443 ") {
		t.Errorf("the proxy got %q", got)
	}
}
