package server

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

const unixScheme = "unix://"

// Address is where the API is served: a literal IP address with a port, or the
// path of a Unix domain socket. The zero value is no address.
type Address struct {
	tcp  netip.AddrPort
	path string
}

// ParseAddress accepts exactly two forms: 127.0.0.1:9090 or [::1]:9090, where
// port 0 lets the system choose, and unix:///run/sluice.sock. Host names are
// refused, since what they resolve to decides who can reach the API.
func ParseAddress(s string) (Address, error) {
	if path, ok := strings.CutPrefix(s, unixScheme); ok {
		if path == "" {
			return Address{}, fmt.Errorf("api address %q has no socket path (want unix:///path)", s)
		}
		if strings.IndexByte(path, 0) >= 0 {
			return Address{}, fmt.Errorf("api address %q: a socket path cannot hold a NUL byte", s)
		}
		return Address{path: path}, nil
	}
	tcp, err := netip.ParseAddrPort(s)
	if err != nil {
		return Address{}, fmt.Errorf("api address %q is neither a literal IP address with a port (127.0.0.1:9090, [::1]:9090) nor unix:///path", s)
	}
	return Address{tcp: tcp}, nil
}

// String gives the address in the form ParseAddress accepts.
func (a Address) String() string {
	if a.path != "" {
		return unixScheme + a.path
	}
	return a.tcp.String()
}

// Unix reports whether the address is a Unix domain socket.
func (a Address) Unix() bool { return a.path != "" }

// Loopback reports whether only this machine can reach the address: a Unix
// domain socket, 127.0.0.0/8, ::1, or the IPv4-mapped form of the former.
func (a Address) Loopback() bool {
	return a.Unix() || a.tcp.Addr().Unmap().IsLoopback()
}

// ErrPlaintext refuses an address that would carry tokens and events in clear
// over a network.
var ErrPlaintext = errors.New("refusing to bind plaintext")

// CheckTransport says whether the API may be served at a with or without TLS.
// Without TLS only loopback addresses are allowed, unless the operator takes
// the responsibility with allowPlaintext; a socket file has no use for TLS.
func (a Address) CheckTransport(tls, allowPlaintext bool) error {
	switch {
	case a.Unix() && tls:
		return fmt.Errorf("--tls-cert and --tls-key cannot be combined with a unix:// address (%s)", a)
	case tls || allowPlaintext || a.Loopback():
		return nil
	}
	return fmt.Errorf("%w on %s: serve TLS (--tls-cert, --tls-key), choose a loopback or unix:// address (--api-addr), or say that the network is trusted (--allow-plaintext)", ErrPlaintext, a)
}
