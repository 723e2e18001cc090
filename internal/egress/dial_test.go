package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func hello(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }

func TestLiteralAddressesAreJudgedInEverySpelling(t *testing.T) {
	resolver := fixed(nil)
	c := client(t, Options{Resolver: resolver})
	for _, host := range []string{
		"169.254.169.254", "2852039166", "0xA9FEA9FE", "0251.0376.0251.0376", "0xa9.254.0251.254", "169.254.43518", "169.254.169.254.",
		"\uff11\uff16\uff19.254.169.254", // digits of full width
	} {
		const want = "egress policy denied link-local address 169.254.169.254"
		if _, _, err := get(t, c, "http://"+host+"/latest/meta-data"); denial(err) != want {
			t.Errorf("%s: got %s, want %s", host, denial(err), want)
		}
	}
	for host, want := range map[string]string{
		"[::ffff:169.254.169.254]": "egress policy denied link-local address 169.254.169.254",
		"[::ffff:a9fe:a9fe]":       "egress policy denied link-local address 169.254.169.254",
		"[64:ff9b::a9fe:a9fe]":     "egress policy denied link-local address 64:ff9b::a9fe:a9fe",
		"[2002:a9fe:a9fe::]:8080":  "egress policy denied link-local address 2002:a9fe:a9fe::",
		"[fe80::1%25eth0]":         "egress policy denied link-local address fe80::1%eth0",
		"[fd00:ec2::254]":          "egress policy denied cloud-metadata address fd00:ec2::254",
		"100.100.100.200":          "egress policy denied cloud-metadata address 100.100.100.200",
		"0":                        "egress policy denied link-local address 0.0.0.0",
		"[::]":                     "egress policy denied link-local address ::",
	} {
		if _, _, err := get(t, c, "http://"+host+"/"); denial(err) != want {
			t.Errorf("%s: got %s, want %s", host, denial(err), want)
		}
	}
	if _, _, err := get(t, c, "http://256.1.1.1/"); err == nil || !errors.Is(err, errNoAddress) {
		t.Errorf("a number that is no address: got %v", err)
	}
	if asked := resolver.questions(); len(asked) > 0 {
		t.Errorf("the resolver was asked for %q", asked)
	}
}

func TestNamesAreJudgedByTheirAddresses(t *testing.T) {
	server := serve(t, hello)
	resolver := fixed(map[string][]string{
		"metadata.example": {"169.254.169.254"},
		"both.example":     {"169.254.169.254", "::ffff:127.0.0.1"},
		"mapped.example":   {"::ffff:169.254.169.254"},
		"denied.example":   {"fd00:ec2::254", "169.254.169.254"},
		"local.example":    {"127.0.0.1"},
		"nothing.example":  nil,
	})
	for _, tc := range []struct {
		policy Policy
		host   string
		want   string
	}{
		{Default, "metadata.example", "egress policy denied link-local address 169.254.169.254"},
		{Default, "mapped.example", "egress policy denied link-local address 169.254.169.254"},
		{Default, "denied.example", "egress policy denied cloud-metadata address fd00:ec2::254"},
		{Default, "both.example", "allowed"},
		{Default, "local.example", "allowed"},
		{Default, "LOCAL.example", "allowed"},
		{Strict, "local.example", "egress policy denied loopback address 127.0.0.1"},
		{Strict, "both.example", "egress policy denied link-local address 169.254.169.254"},
		{Strict, "127.0.0.1", "egress policy denied loopback address 127.0.0.1"},
		{Permissive, "local.example", "allowed"},
		{Default, "nothing.example", "no addresses resolved for 'nothing.example'"},
		{Default, "unknown.example", "no addresses resolved for 'unknown.example': lookup unknown.example: no such host"},
	} {
		c := client(t, Options{Policy: tc.policy, Resolver: resolver})
		_, body, err := get(t, c, "http://"+tc.host+":"+port(t, server)+"/")
		if got := denial(err); !strings.HasSuffix(got, tc.want) || err == nil && body != "hello" {
			t.Errorf("%s, %s: got %s, %q, want %s", tc.policy, tc.host, got, body, tc.want)
		}
	}
}

func TestANameThatChangesItsAddressIsResolvedOnceForEachConnection(t *testing.T) {
	server := serve(t, hello)
	resolver := &names{answers: map[string][][]string{"rebind.example": {{"127.0.0.1"}, {"169.254.169.254"}}}}
	c := client(t, Options{Resolver: resolver})
	target := "http://rebind.example:" + port(t, server) + "/"
	for range 2 { // the second request uses the connection of the first
		if _, body, err := get(t, c, target); body != "hello" {
			t.Fatalf("got %q, %v, want a response of the address that was judged", body, err)
		}
	}
	if asked := resolver.questions(); len(asked) != 1 {
		t.Errorf("asked for %q, want one question", asked)
	}
	c.CloseIdleConnections()
	if _, _, err := get(t, c, target); denial(err) != "egress policy denied link-local address 169.254.169.254" {
		t.Errorf("the new address: got %v", err)
	}
}

func TestTheSocketItselfIsJudged(t *testing.T) {
	g := newGuard(Default, nil)
	for address, want := range map[string]string{
		"169.254.169.254:80":          "egress policy denied link-local address 169.254.169.254",
		"[::ffff:169.254.169.254]:80": "egress policy denied link-local address ::ffff:169.254.169.254",
		"127.0.0.1:80":                "allowed",
	} {
		if got := denial(g.control(t.Context(), "tcp", address, nil)); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
	if err := g.control(t.Context(), "tcp", "nonsense", nil); err == nil {
		t.Error("an address that cannot be read was allowed")
	}
	if conn, err := g.connect(t.Context(), "tcp", "169.254.169.254:80"); denial(err) != "egress policy denied link-local address 169.254.169.254" {
		t.Errorf("the dialer without the guard: got %v, %v", conn, err)
	}
}

// connections records what is dialled; of addresses that it does not know it refuses
// the connection, and of those that map to nothing it never answers.
type connections struct {
	mu     sync.Mutex
	dialed []string
	to     map[string]string
	told   chan string // nil, or gets what is dialled
}

func (c *connections) connect(ctx context.Context, network, address string) (net.Conn, error) {
	c.mu.Lock()
	c.dialed = append(c.dialed, address)
	to, known := c.to[address]
	c.mu.Unlock()
	if c.told != nil {
		c.told <- address
	}
	switch {
	case !known:
		return nil, fmt.Errorf("%s refused", address)
	case to == "":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var d net.Dialer
	return d.DialContext(ctx, network, to)
}

// listen takes connections and closes them.
func listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	return l.Addr().String()
}

func TestOneOfTheAllowedAddressesIsDialled(t *testing.T) {
	address := listen(t)
	for _, tc := range []struct {
		name      string
		policy    Policy
		addresses []string
		to        map[string]string
		dialed    []string
		want      string
	}{
		{
			"denied addresses are left out", Strict,
			[]string{"10.0.0.5", "8.8.8.8"},
			map[string]string{"8.8.8.8:80": address, "10.0.0.5:80": address},
			[]string{"8.8.8.8:80"},
			"allowed",
		},
		{
			"an address that refuses leads to the next", Default,
			[]string{"8.8.8.8", "9.9.9.9"},
			map[string]string{"9.9.9.9:80": address},
			[]string{"8.8.8.8:80", "9.9.9.9:80"},
			"allowed",
		},
		{
			"the first failure is told, not the denial", Strict,
			[]string{"10.0.0.5", "8.8.8.8", "9.9.9.9"},
			nil,
			[]string{"8.8.8.8:80", "9.9.9.9:80"},
			"8.8.8.8:80 refused",
		},
		{
			"the other family is tried when the first has failed", Default,
			[]string{"2001:db8::1", "8.8.8.8"},
			map[string]string{"8.8.8.8:80": address},
			[]string{"[2001:db8::1]:80", "8.8.8.8:80"},
			"allowed",
		},
		{
			"the other family is tried soon when the first does not answer", Default,
			[]string{"2001:db8::1", "8.8.8.8"},
			map[string]string{"[2001:db8::1]:80": "", "8.8.8.8:80": address},
			[]string{"[2001:db8::1]:80", "8.8.8.8:80"},
			"allowed",
		},
		{
			"the failure of the first family is told", Default,
			[]string{"8.8.8.8", "2001:db8::1"},
			nil,
			[]string{"8.8.8.8:80", "[2001:db8::1]:80"},
			"8.8.8.8:80 refused",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			// In virtual time the pause before the other family is over when nothing else happens.
			synctest.Test(t, func(t *testing.T) {
				c := &connections{to: tc.to}
				g := newGuard(tc.policy, fixed(map[string][]string{"h.example": tc.addresses}))
				g.connect, g.fallback = c.connect, time.Millisecond
				conn, err := g.dial(t.Context(), "tcp", "h.example:80")
				if conn != nil {
					conn.Close()
				}
				if got := denial(err); got != tc.want || strings.Join(c.dialed, " ") != strings.Join(tc.dialed, " ") {
					t.Errorf("got %s, dialled %v, want %s, %v", got, c.dialed, tc.want, tc.dialed)
				}
			})
		})
	}
}

func TestDiallingEndsWithItsContext(t *testing.T) {
	c := &connections{to: map[string]string{"8.8.8.8:80": "", "[2001:db8::1]:80": ""}, told: make(chan string)}
	g := newGuard(Default, fixed(map[string][]string{"h.example": {"2001:db8::1", "8.8.8.8"}}))
	g.connect, g.fallback = c.connect, 0
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-c.told
		<-c.told
		cancel()
	}()
	if conn, err := g.dial(ctx, "tcp", "h.example:80"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", conn, err)
	}
}

func TestEmbeddedAddressesAreReadFromTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"2002:102:304::ffff": "1.2.3.4", "64:ff9b::102:304": "1.2.3.4", "::1.2.3.4": "1.2.3.4", "::ffff:1.2.3.4": "1.2.3.4",
		"::": "::", "::1": "::1", "2001:db8::1%x": "2001:db8::1", "1.2.3.4": "1.2.3.4",
	} {
		if got := embedded(netip.MustParseAddr(text)); got.String() != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
