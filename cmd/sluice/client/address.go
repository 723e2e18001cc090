package client

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// forms is what an address may look like.
const forms = "host:port, http://host:port, https://host:port or unix:///path"

// socketLimit is the longest path of a unix socket that every system takes.
const socketLimit = 103

// address is where a daemon is called.
type address struct {
	base   url.URL // of the API, without a slash at the end
	socket string  // path; "" for TCP
}

// parseAddress reads one of the forms. Without a scheme, secure chooses between the two of
// HTTP. The addresses that stand for every interface become loopback ones.
func parseAddress(text string, secure bool) (address, error) {
	if path, ok := strings.CutPrefix(text, "unix://"); ok {
		return socketAddress(path)
	}
	if text == "" {
		return address{}, errors.New("the address is empty (" + forms + ")")
	}
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "unix:") || strings.HasPrefix(text, "./") {
		return address{}, fmt.Errorf("%q is no address (a unix socket is written unix:///path)", text)
	}
	scheme := "http"
	if secure {
		scheme = "https"
	}
	bare := !strings.Contains(text, "://")
	if bare {
		text = scheme + "://" + text
	}
	u, err := url.Parse(text)
	shown := strings.TrimPrefix(text, scheme+"://")
	if !bare {
		shown = text
	}
	switch {
	case err == nil && u.User != nil, err != nil && strings.Contains(shown, "@"): // what may be a password is not quoted
		return address{}, errors.New("an address has no user and no password (the variable of --auth-token-env holds the token)")
	case err != nil && strings.Count(shown, ":") > 1 && !strings.ContainsAny(shown, "[/"):
		return address{}, fmt.Errorf("%q: an IPv6 address stands in brackets ([::1]:9090)", shown)
	case err != nil:
		return address{}, fmt.Errorf("%q is no address (%s)", shown, forms)
	case u.Scheme != "http" && u.Scheme != "https":
		return address{}, fmt.Errorf("%q: the scheme %s is not known (%s)", shown, u.Scheme, forms)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return address{}, fmt.Errorf("%q: an address ends before \"?\" and \"#\"", shown)
	case bare && u.Path != "":
		return address{}, fmt.Errorf("%q: an address with a path needs its scheme (http:// or https://)", shown)
	}
	name, port := u.Hostname(), u.Port()
	switch n, err := strconv.ParseUint(port, 10, 16); {
	case port == "" && (bare || strings.HasSuffix(u.Host, ":")):
		return address{}, fmt.Errorf("%q has no port (such as %s)", shown, net.JoinHostPort(name, "9090"))
	case port == "" && name == "":
		return address{}, fmt.Errorf("%q has no host (%s)", shown, forms)
	case port != "" && err != nil:
		return address{}, fmt.Errorf("%q: the port is not 1 to 65535", shown)
	case port != "" && n == 0:
		return address{}, fmt.Errorf("%q: port 0 lets the daemon choose one, which the first lines of its log tell", shown)
	}
	u.Host = reachable(name, port)
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return address{base: *u}, nil
}

func socketAddress(path string) (address, error) {
	switch {
	case path == "":
		return address{}, errors.New("\"unix://\" has no path (unix:///path)")
	case strings.IndexByte(path, 0) >= 0:
		return address{}, errors.New("the path of a socket cannot hold a NUL byte")
	case len(path) > socketLimit:
		return address{}, fmt.Errorf("the path has %d bytes, that of a socket may have %d: %q", len(path), socketLimit, path)
	}
	if strings.HasPrefix(path, "@") { // a file, as for the daemon
		path = "./" + path
	}
	return address{base: url.URL{Scheme: "http", Host: "localhost"}, socket: path}, nil
}

// reachable turns an address to listen on into one to call.
func reachable(name, port string) string {
	switch name {
	case "", "0.0.0.0":
		name = "127.0.0.1"
	case "::":
		name = "::1"
	}
	if port == "" {
		if strings.Contains(name, ":") {
			return "[" + name + "]"
		}
		return name
	}
	return net.JoinHostPort(name, port)
}

func (a address) tls() bool { return a.base.Scheme == "https" }

// exposed reports whether others may read what goes there.
func (a address) exposed() bool {
	if a.socket != "" || a.tls() {
		return false
	}
	name := strings.TrimSuffix(strings.ToLower(a.base.Hostname()), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return false
	}
	ip, err := netip.ParseAddr(name)
	return err != nil || !ip.Unmap().IsLoopback()
}

// String is the address as people write it.
func (a address) String() string {
	if a.socket != "" {
		return "unix://" + a.socket
	}
	return a.base.String()
}

// place names a path of the API at the address.
func (a address) place(path string) string {
	if a.socket != "" {
		return path + " over " + a.String()
	}
	return a.String() + path
}
