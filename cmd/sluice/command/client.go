package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/config"
)

const (
	clientTimeout = 30 * time.Second
	maxAnswer     = 64 << 20
	tokenEnv      = "SLUICE_API_TOKEN"
)

// client asks a running daemon.
type client struct {
	http  http.Client
	base  string // for URLs, without a final slash
	token string
}

func clientFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "addr", Usage: "Address of the daemon, host:port or a URL; daemon.api.addr when absent"},
		configFlag(true),
		&cli.StringFlag{Name: "auth-token-env", Value: tokenEnv, Usage: "Variable that holds the bearer token"},
	}
}

// client makes a client for the address of the command line, else of the
// configuration.
func (e *env) client(c *cli.Context, l *config.Loaded) (*client, error) {
	addr := c.String("addr")
	if addr == "" {
		addr = l.Config.Daemon.API.Addr
	}
	out := &client{token: strings.TrimSpace(os.Getenv(c.String("auth-token-env")))}
	out.http.Timeout = clientTimeout
	if path, ok := strings.CutPrefix(addr, "unix://"); ok {
		out.base = "http://localhost"
		out.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}}
		return out, nil
	}
	if !strings.Contains(addr, "://") {
		scheme := "http://"
		if c.String("addr") == "" && l.Config.Daemon.API.TLS.Cert != "" {
			scheme = "https://"
		}
		addr = scheme + addr
	}
	u, err := url.Parse(addr)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, configFaultf("--addr: %q is no address (host:port, a URL, unix:///path)", addr)
	}
	u.Host = reachable(u.Host)
	out.base = strings.TrimSuffix(u.String(), "/")
	return out, nil
}

// reachable turns an address to listen on into one to call.
func reachable(host string) string {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return host
	}
	switch name {
	case "0.0.0.0":
		name = "127.0.0.1"
	case "::":
		name = "::1"
	}
	return net.JoinHostPort(name, port)
}

// ask sends one request and returns the body of a good answer.
func (c *client) ask(ctx context.Context, method, path string) ([]byte, error) {
	target := c.base + path
	req, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return nil, configFault(err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, configFaultf("%s %s: %w (is the daemon running? --addr says where)", method, target, cause(err))
	}
	if err != nil {
		return nil, configFaultf("%s %s: %w", method, target, cause(err))
	}
	defer func() { _ = resp.Body.Close() }() // the body has been read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, configFaultf("%s %s: %s: %w", method, target, resp.Status, err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, configFaultf("%s %s: %s%s", method, target, resp.Status, complaint(body))
	}
	return body, nil
}

// cause drops the method and URL that net/http puts before its errors: ask
// says them itself.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// complaint is what the body of an error says, hint in brackets.
func complaint(body []byte) string {
	var e struct{ Error, Hint string }
	if json.Unmarshal(body, &e) != nil || e.Error == "" {
		return ""
	}
	if e.Hint != "" {
		return fmt.Sprintf(": %s (%s)", e.Error, e.Hint)
	}
	return ": " + e.Error
}
