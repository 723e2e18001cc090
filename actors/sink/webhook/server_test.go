package webhook_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/egress"
)

// egressClient makes the clients of the daemon.
func egressClient(o egress.Options) func(*tls.Config) *http.Client {
	if o.Proxies == nil {
		o.Proxies = &httpproxy.Config{}
	}
	return func(c *tls.Config) *http.Client {
		o.TLS = c
		return egress.NewClient(o)
	}
}

// real runs a webhook of a URL and settings in real time, through the daemon's client.
func real(t *testing.T, url, settings string, o egress.Options) *bench {
	t.Helper()
	w := load(t, "webhooks:\n  - id: w\n    kind: detection\n    url: "+url+"\n    retry: {attempts: 3, backoff: 1ms, max_backoff: 1ms}\n"+settings, nil)[0]
	b := newBench(t, w, egressClient(o), nil)
	t.Cleanup(b.close)
	return b
}

// end puts results and waits until so many sets have ended.
func (b *bench) end(t *testing.T, sets int, titles ...string) {
	t.Helper()
	for _, title := range titles {
		b.put(odd(title))
	}
	everything(t, func() bool { return b.ended() >= sets })
}

func everything(t *testing.T, done func() bool) {
	t.Helper()
	for range 60_000 {
		if done() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("nothing comes any more")
}

func TestAnAnswerOf100MegabytesIsReadToABound(t *testing.T) {
	var written, over atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer over.Add(1)
		chunk := bytes.Repeat([]byte("garbage "), 8<<10)
		for range 100 << 20 / len(chunk) {
			n, err := w.Write(chunk)
			if written.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	b := real(t, server.URL, titleBody, egress.Options{})
	b.end(t, 2, "a", "b")
	everything(t, func() bool { return over.Load() == 2 })
	// What is written is read, or lies in the buffers of two sockets.
	if n := written.Load(); n > 40<<20 {
		t.Errorf("%d bytes were taken from two answers of 100 MiB", n)
	}
	if success, _, _, _ := b.outcomes(); success != 2 {
		t.Errorf("success %d, want 2", success)
	}
}

func TestAStormOf429(t *testing.T) {
	var n atomic.Int64
	to := &receiver{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%3 != 0 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}}
	server := httptest.NewServer(to)
	defer server.Close()
	b := real(t, server.URL, titleBody, egress.Options{})
	var titles []string
	for i := range 200 {
		titles = append(titles, strconv.Itoa(i))
	}
	b.end(t, 200, titles...)
	all := to.bodies()
	if len(all) != 600 {
		t.Fatalf("%d requests, want 600", len(all))
	}
	for i, body := range all {
		if body != titles[i/3] {
			t.Fatalf("request %d is about %s, want %s: the order is lost", i, body, titles[i/3])
		}
	}
	if d := b.detail(); d.Retries != 400 || d.DeliveryFailures != 0 || len(b.letters.Lines()) != 0 {
		t.Errorf("detail %+v, want 400 retries and no failure", d)
	}
}

func TestAReceiverThatAnswersBeforeItHasReadDisturbsNoLaterBody(t *testing.T) {
	var bodies sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first := make([]byte, 1)
		if _, err := r.Body.Read(first); err == nil {
			bodies.Store(first[0], true)
		}
		w.WriteHeader(http.StatusOK)
	}))
	defer server.Close()
	b := real(t, server.URL, titleBody, egress.Options{})
	var titles []string
	for i := range 26 {
		titles = append(titles, strings.Repeat(string(rune('a'+i)), 1<<20))
	}
	b.end(t, 26, titles...)
	for i := range 26 {
		if _, ok := bodies.Load(byte('a' + i)); !ok {
			t.Errorf("no body begins with %c", 'a'+i)
		}
	}
}

// serveTLS serves with the certificate that is in force at each handshake.
func serveTLS(t *testing.T, to http.Handler, http2 bool, c *tls.Config) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(to)
	server.TLS, server.EnableHTTP2 = c, http2
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func TestTLS(t *testing.T) {
	ours, theirs := certstest.New(t, "ours"), certstest.New(t, "theirs")
	const later, before = time.Hour, -time.Hour
	cert, key := ours.Issue("client", later)
	caOnly, both := "    tls: {ca: "+ours.File+"}\n", "    tls: {ca: "+ours.File+", client_cert: "+cert+", client_key: "+key+"}\n"
	for _, tc := range []struct {
		name, settings string
		by             *certstest.Authority
		end            time.Duration
		demand         tls.ClientAuthType
		plain          bool // the server speaks no TLS
		http2          bool
		want           string // of the dead letter; empty for a delivery
	}{
		{"a CA of its own over HTTP/2", caOnly, ours, later, tls.NoClientCert, false, true, ""},
		{"a CA of its own", caOnly, ours, later, tls.NoClientCert, false, false, ""},
		{"without it", "", ours, later, tls.NoClientCert, false, false, "certificate signed by unknown authority"},
		{"another authority", caOnly, theirs, later, tls.NoClientCert, false, false, "certificate signed by unknown authority"},
		{"an expired certificate", caOnly, ours, before, tls.NoClientCert, false, false, "certificate has expired"},
		{"a client certificate that is demanded", both, ours, later, tls.RequireAndVerifyClientCert, false, false, ""},
		// TLS 1.2 verifies clients within the handshake, and says handshake_failure (RFC 5246,
		// section 7.4.6). With 1.3 the client has begun to write
		// by then, and may learn that the connection is closed before it learns why.
		{"a demand of TLS 1.2 without one", caOnly, ours, later, tls.RequireAndVerifyClientCert, false, false, "remote error: tls: handshake failure"},
		{"a demand of TLS 1.3 without one", caOnly, ours, later, tls.RequireAndVerifyClientCert, false, false, "I/O error: webhook w: "},
		{"TLS to a server without", caOnly, ours, later, tls.NoClientCert, true, false, "first record does not look like a TLS handshake"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to := answers(200)
			server := serveTLS(t, to, tc.http2, &tls.Config{Certificates: []tls.Certificate{tc.by.Pair("server", tc.end)}, ClientAuth: tc.demand, ClientCAs: ours.Pool, MaxVersion: map[bool]uint16{true: tls.VersionTLS12}[strings.Contains(tc.name, "TLS 1.2")]})
			url := server.URL
			if tc.plain {
				clear := httptest.NewServer(to)
				t.Cleanup(clear.Close)
				url = strings.Replace(clear.URL, "http:", "https:", 1)
			}
			b := real(t, url, titleBody+tc.settings, egress.Options{})
			b.end(t, 1, "x")
			switch {
			case tc.want == "" && (len(to.all()) != 1 || (to.all()[0].proto == "HTTP/2.0") != tc.http2):
				t.Errorf("%d requests, dead letters %s", len(to.all()), b.letters.Lines())
			case tc.want != "":
				if got := b.letter(); !strings.Contains(got, tc.want) || !strings.Contains(got, "I/O error: webhook w: ") || len(to.all()) != 0 {
					t.Errorf("dead letter %s, want %s", got, tc.want)
				}
			}
		})
	}
}

func TestACertificateThatIsSwapped(t *testing.T) {
	ours, theirs := certstest.New(t, "ours"), certstest.New(t, "theirs")
	good, bad := ours.Pair("server", time.Hour), theirs.Pair("server", time.Hour)
	var serving atomic.Pointer[tls.Certificate]
	serving.Store(&good)
	to := answers(200)
	server := serveTLS(t, to, false, &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{Certificates: []tls.Certificate{*serving.Load()}}, nil
	}})
	b := real(t, server.URL, titleBody+"    tls: {ca: "+ours.File+"}\n", egress.Options{})
	b.end(t, 1, "before")
	serving.Store(&bad)
	server.CloseClientConnections()
	b.end(t, 2, "meanwhile")
	renewed := ours.Pair("server", time.Hour)
	serving.Store(&renewed)
	b.end(t, 3, "after")
	if got := strings.Join(to.bodies(), " "); got != "before after" {
		t.Errorf("arrived: %q", got)
	}
	if got := b.letter(); !strings.Contains(got, "certificate signed by unknown authority") || !strings.Contains(got, `"attempts":3`) {
		t.Errorf("dead letter %s", got)
	}
}

// names is a resolver that answers with a list after the other; the last one stays.
type names struct {
	mu    sync.Mutex // guards lists
	lists [][]string
}

func (n *names) LookupNetIP(context.Context, string, string) (all []netip.Addr, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, text := range n.lists[0] {
		all = append(all, netip.MustParseAddr(text))
	}
	if len(n.lists) > 1 {
		n.lists = n.lists[1:]
	}
	return all, nil
}

func TestEgress(t *testing.T) {
	for _, tc := range []struct {
		name   string
		policy egress.Policy
		url    string // PORT is the receiver's
		names  [][]string
		want   string // of the dead letter; empty for a delivery
	}{
		{"loopback by default", egress.Default, "http://127.0.0.1:PORT/", nil, ""},
		{"loopback in strict mode", egress.Strict, "http://127.0.0.1:PORT/", nil, "egress policy denied loopback address 127.0.0.1"},
		{"the metadata service", egress.Default, "http://169.254.169.254/latest", nil, "egress policy denied link-local address 169.254.169.254"},
		{"the same as a number", egress.Default, "http://2852039166/latest", nil, "egress policy denied link-local address 169.254.169.254"},
		{"the same in IPv6", egress.Default, "http://[::ffff:169.254.169.254]/", nil, "egress policy denied link-local address"},
		{"another metadata service", egress.Default, "http://[fd00:ec2::254]/", nil, "egress policy denied cloud-metadata address fd00:ec2::254"},
		{"a name that leads there", egress.Default, "http://innocent.example/", [][]string{{"169.254.169.254"}}, "egress policy denied link-local address 169.254.169.254"},
		{"a name that leads there from the second attempt on", egress.Strict, "http://rebinding.example:PORT/", [][]string{{"127.0.0.1"}, {"169.254.169.254"}}, "egress policy denied link-local address 169.254.169.254"},
		{"a denied address of several is left out", egress.Default, "http://mixed.example:PORT/", [][]string{{"169.254.169.254", "127.0.0.1"}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to := answers(200)
			server := httptest.NewServer(to)
			t.Cleanup(server.Close)
			_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
			o := egress.Options{Policy: tc.policy}
			if tc.names != nil {
				o.Resolver = &names{lists: tc.names}
			}
			b := real(t, strings.Replace(tc.url, "PORT", port, 1), titleBody, o)
			b.end(t, 1, "x")
			if tc.want == "" {
				if len(to.all()) != 1 {
					t.Errorf("%d requests, dead letters %s", len(to.all()), b.letters.Lines())
				}
				return
			}
			if got := b.letter(); !strings.Contains(got, `I/O error: webhook w: `) || !strings.Contains(got, tc.want) || !strings.Contains(got, `"attempts":3`) || len(to.all()) != 0 {
				t.Errorf("dead letter %s, want %s after three attempts", got, tc.want)
			}
		})
	}
}

func TestNoMessageShowsASecretOfTheURL(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	_ = listener.Close()
	b := real(t, "'http://user:hunter2@"+closed+"/hunter2?k=hunter2'", titleBody, egress.Options{Resolver: &names{lists: [][]string{{"169.254.169.254"}}}})
	b.end(t, 1, "x")
	if got := b.letter(); strings.Contains(got, "hunter2") {
		t.Errorf("dead letter %s", got)
	}
	for _, url := range []string{"http://h/${detection.fields.None}%zzhunter2", "http://user:hunter2@169.254.169.254/hunter2", "${URL}/${detection.fields.None}"} {
		dir := files(t, map[string]string{"w.yml": strings.Replace(good, "https://x/", "'"+url+"'", 1)})
		_, faults := webhook.Load([]string{dir}, webhook.LoadOptions{Getenv: vars(map[string]string{"URL": "https://hunter2@/hunter2"})})
		if got := fmt.Sprint(told(dir, faults)); len(faults) != 1 || strings.Contains(got, "hunter2") {
			t.Errorf("%d faults: %s", len(faults), got)
		}
	}
}
