package egress

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/http/httpproxy"
)

// nameServer is a name server of an attacker: each question for a name is answered with
// the next of its answers, the last one from then on, and never to be kept.
type nameServer struct {
	mu      sync.Mutex
	answers map[string][][]string // by name with a dot behind it; addresses of both families
	asked   int
}

// startNameServer returns a resolver that asks it.
func startNameServer(t *testing.T, answers map[string][][]string) (*net.Resolver, *nameServer) {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &nameServer{answers: answers}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			size, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer := n.answer(buf[:size]); answer != nil {
				_, _ = c.WriteTo(answer, from)
			}
		}
	}()
	t.Cleanup(func() { c.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", c.LocalAddr().String())
	}}, n
}

// answer answers a question for addresses. Those of IPv4 move on to the next answer.
func (n *nameServer) answer(raw []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(raw) != nil || len(m.Questions) != 1 {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	q := m.Questions[0]
	answers, known := n.answers[strings.ToLower(q.Name.String())]
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true, RecursionDesired: m.RecursionDesired}
	m.Additionals = nil
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	} else {
		for _, text := range answers[0] {
			a := netip.MustParseAddr(text)
			head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: dnsmessage.ClassINET}
			switch {
			case a.Is4() && q.Type == dnsmessage.TypeA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: a.As4()}})
			case a.Is6() && q.Type == dnsmessage.TypeAAAA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
			}
		}
		if q.Type == dnsmessage.TypeA {
			n.asked++
			if len(answers) > 1 {
				n.answers[strings.ToLower(q.Name.String())] = answers[1:]
			}
		}
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}

func (n *nameServer) questions() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

// A name whose address changes between two looks gains nothing: the address that is
// dialled is the one that was judged.
func TestNamesThatRebind(t *testing.T) {
	server := serve(t, hello)
	const metadata = "egress policy denied link-local address 169.254.169.254"
	resolver, server53 := startNameServer(t, map[string][][]string{
		"good-first.example.":  {{"127.0.0.1"}, {"169.254.169.254"}},
		"bad-first.example.":   {{"169.254.169.254"}, {"127.0.0.1"}},
		"both.example.":        {{"169.254.169.254", "127.0.0.1"}},
		"mapped.example.":      {{"::ffff:169.254.169.254"}},
		"translated.example.":  {{"64:ff9b::a9fe:a9fe"}},
		"sixtofour.example.":   {{"2002:a9fe:a9fe::1"}},
		"compatible.example.":  {{"::a9fe:a9fe"}},
		"aws.example.":         {{"fd00:ec2::254"}},
		"alibaba.example.":     {{"100.100.100.200"}},
		"unspecified.example.": {{"0.0.0.0"}},
	})
	for _, tc := range []struct{ name, host, want string }{
		{"an address that is good when it is judged is the one that is dialled", "good-first.example", "allowed"},
		{"and judged again for the next connection", "good-first.example", metadata},
		{"an address that is bad when it is judged", "bad-first.example", metadata},
		{"which is good at the next look", "bad-first.example", "allowed"},
		{"of two addresses the good one is dialled", "both.example", "allowed"},
		{"an IPv4 address in one of IPv6", "mapped.example", metadata},
		{"one that is translated", "translated.example", "egress policy denied link-local address 64:ff9b::a9fe:a9fe"},
		{"one of 6to4", "sixtofour.example", "egress policy denied link-local address 2002:a9fe:a9fe::1"},
		{"one that is compatible", "compatible.example", "egress policy denied link-local address ::a9fe:a9fe"},
		{"credentials of a cloud", "aws.example", "egress policy denied cloud-metadata address fd00:ec2::254"},
		{"of another cloud", "alibaba.example", "egress policy denied cloud-metadata address 100.100.100.200"},
		{"the address that stands for this machine", "unspecified.example", "egress policy denied link-local address 0.0.0.0"},
	} {
		c := client(t, Options{Resolver: resolver})
		before := server53.questions()
		_, _, err := get(t, c, "http://"+tc.host+":"+port(t, server)+"/")
		if got := denial(err); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
		if n := server53.questions() - before; n > 1 {
			t.Errorf("%s: the name was looked up %d times, want once", tc.name, n)
		}
	}
}

// A chain of redirects is judged at each hop, and so is a name that changes on the way.
func TestARedirectToANameThatRebinds(t *testing.T) {
	var mu sync.Mutex
	var reached []string
	var ports [2]string
	for i := range ports {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			reached = append(reached, fmt.Sprint(i, r.URL.Path))
			mu.Unlock()
			// Another port, so that another connection is made.
			http.Redirect(w, r, "http://rebind.example:"+ports[1-i]+r.URL.Path+"x", http.StatusFound)
		})
		ports[i] = port(t, s)
	}
	resolver, _ := startNameServer(t, map[string][][]string{
		"rebind.example.": {{"127.0.0.1"}, {"127.0.0.1"}, {"169.254.169.254"}},
	})
	transportless := client(t, Options{Resolver: resolver, Redirects: 10})
	transportless.Transport.(*agent).DisableKeepAlives = true
	_, _, err := get(t, transportless, "http://rebind.example:"+ports[0]+"/")
	if got, want := denial(err), "egress policy denied link-local address 169.254.169.254"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"0/", "1/x"}; !slices.Equal(reached, want) {
		t.Errorf("reached %v, want %v", reached, want)
	}
}

// Of a public and a private address of one name, strict dials only the public one.
func TestStrictDialsOnlyPublicAddresses(t *testing.T) {
	server := serve(t, hello)
	resolver, _ := startNameServer(t, map[string][][]string{
		"mixed.example.":   {{"10.0.0.5", "8.8.8.8"}},
		"private.example.": {{"10.0.0.5", "192.168.1.1", "fc00::1"}},
	})
	g := newGuard(Strict, resolver)
	public := &connections{to: map[string]string{"8.8.8.8:80": server.Listener.Addr().String()}}
	g.connect = public.connect
	c := newClient(Options{Proxies: &httpproxy.Config{}}, g)
	t.Cleanup(c.CloseIdleConnections)
	if _, body, err := get(t, c, "http://mixed.example/"); body != "hello" {
		t.Errorf("got %q, %v, want the answer of the public address", body, err)
	}
	if _, _, err := get(t, c, "http://private.example/"); denial(err) != "egress policy denied private address 10.0.0.5" {
		t.Errorf("got %v, want the first denial", err)
	}
}
