package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/idna"
)

// Resolver looks up the addresses of a name. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// guard connects to what its policy allows.
type guard struct {
	policy   Policy
	resolver Resolver
	connect  func(ctx context.Context, network, address string) (net.Conn, error)
	fallback time.Duration // for which the first family of addresses is tried alone
}

// fallbackDelay is what RFC 8305 recommends, nearly.
const fallbackDelay = 300 * time.Millisecond

func newGuard(p Policy, r Resolver) *guard {
	if r == nil {
		r = net.DefaultResolver
	}
	g := &guard{policy: p, resolver: r, fallback: fallbackDelay}
	dialer := net.Dialer{Timeout: dialTimeout, ControlContext: g.control}
	g.connect = dialer.DialContext
	return g
}

// control judges the address that a socket is about to connect to.
func (g *guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("judge %s: %w", address, err)
	}
	return g.policy.Judge(to.Addr())
}

// dial connects to an allowed address of a host.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	addresses, err := g.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	allowed, err := g.allowed(addresses)
	if err != nil {
		return nil, err
	}
	return g.race(ctx, network, port, allowed)
}

// resolve returns the addresses of a host, at least one.
func (g *guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	a, ok, err := literal(host)
	switch {
	case err != nil:
		return nil, fmt.Errorf("host '%s': %w", host, err)
	case ok:
		return []netip.Addr{a}, nil
	}
	addresses, err := g.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("no addresses resolved for '%s': %w", host, err)
	}
	if len(addresses) == 0 {
		return nil, fmt.Errorf("no addresses resolved for '%s'", host)
	}
	return addresses, nil
}

// allowed returns the addresses that the policy allows, or the first denial if there
// is none.
func (g *guard) allowed(addresses []netip.Addr) ([]netip.Addr, error) {
	var allowed []netip.Addr
	var denied error
	for _, a := range addresses {
		a = a.Unmap()
		switch err := g.policy.Judge(a); {
		case err == nil:
			allowed = append(allowed, a)
		case denied == nil:
			denied = err
		}
	}
	if len(allowed) == 0 {
		return nil, denied
	}
	return allowed, nil
}

// race connects to one of the addresses: those of the family of the first one, and soon
// or when they have failed, the others at the same time.
func (g *guard) race(ctx context.Context, network, port string, addresses []netip.Addr) (net.Conn, error) {
	var first, second []netip.Addr
	for _, a := range addresses {
		if a.Is4() == addresses[0].Is4() {
			first = append(first, a)
		} else {
			second = append(second, a)
		}
	}
	if len(second) == 0 {
		return g.each(ctx, network, port, first)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		conn  net.Conn
		err   error
		first bool
	}
	outcomes := make(chan outcome) // received from until both have ended
	start := func(list []netip.Addr, isFirst bool) {
		go func() {
			conn, err := g.each(ctx, network, port, list)
			outcomes <- outcome{conn, err, isFirst}
		}()
	}
	start(first, true)
	delay := time.NewTimer(g.fallback)
	defer delay.Stop()
	var failure error
	started, running := false, 1
	for {
		select {
		case <-delay.C:
		case o := <-outcomes:
			running--
			if o.err == nil {
				if running > 0 {
					cancel()
					go func() {
						if late := <-outcomes; late.conn != nil {
							_ = late.conn.Close()
						}
					}()
				}
				return o.conn, nil
			}
			if failure == nil || o.first {
				failure = o.err
			}
			if started && running == 0 {
				return nil, failure
			}
		}
		if !started {
			started = true
			running++
			start(second, false)
		}
	}
}

// each connects to the first of the addresses that answers in its share of the time.
func (g *guard) each(ctx context.Context, network, port string, addresses []netip.Addr) (net.Conn, error) {
	var failure error
	for i, a := range addresses {
		conn, err := g.one(ctx, network, net.JoinHostPort(a.String(), port), len(addresses)-i)
		if err == nil {
			return conn, nil
		}
		if failure == nil {
			failure = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failure
}

// leastShare is the time that an address has at least, while there is any.
const leastShare = 2 * time.Second

// one connects to an address in its share of the time that is left.
func (g *guard) one(ctx context.Context, network, address string, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		share := max(time.Until(deadline)/time.Duration(left), leastShare)
		ctx, cancel = context.WithTimeout(ctx, share)
		defer cancel()
	}
	return g.connect(ctx, network, address)
}

// proxy is the Proxy of a transport. It judges the target of a request before anything
// is sent to a proxy.
func (g *guard) proxy(choose func(*url.URL) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		via, err := choose(r.URL)
		if via == nil || err != nil {
			return via, err
		}
		if err := g.judgeTarget(r.Context(), canonicalHost(r.URL.Hostname())); err != nil {
			return nil, err
		}
		if r.URL.Scheme == "http" && !strings.HasPrefix(via.Scheme, "socks") && r.Host != "" {
			told := url.URL{Scheme: r.URL.Scheme, Host: r.Host}
			if origin(&told) != origin(r.URL) {
				return nil, errOtherHost
			}
		}
		return via, nil
	}
}

// errOtherHost is the error of a request whose header Host is not that of its URL. A proxy
// would be asked to connect to the former, which nobody has judged.
var errOtherHost = errors.New("the header Host names another host than the URL, which cannot be sent through a proxy")

// judgeTarget judges a host that a proxy will connect to.
func (g *guard) judgeTarget(ctx context.Context, host string) error {
	if g.policy == Permissive {
		return nil
	}
	addresses, err := g.resolve(ctx, host)
	switch {
	case errors.Is(err, errNoAddress):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && g.policy == Strict:
		return &Denied{Private, host}
	case err != nil:
		return nil
	}
	_, err = g.allowed(addresses)
	return err
}

// canonicalHost is a host as it is looked up: in lower case and ASCII.
func canonicalHost(host string) string {
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	return strings.ToLower(host)
}
