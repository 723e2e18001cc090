package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/sluicehq/sluice/cmd/sluice/terminal"
)

// maxQuoted is how many characters of an answer an error quotes.
const maxQuoted = 1024

// printable is a text of somebody else, fit for a message.
func printable(s string) string {
	if len(s) > 4*maxQuoted {
		s = strings.ToValidUTF8(s[:4*maxQuoted], "")
	}
	return terminal.Shorten(terminal.Printable(s), maxQuoted)
}

func status(resp *http.Response) string { return printable(resp.Status) }

// Refusal is the fault of an answer that is not good, of which body is the beginning or
// all. What the daemon says comes first. Where it does not say what to do, or the other
// scheme is called for, the flags that mend it follow.
func (c *Client) Refusal(resp *http.Response, body []byte) error {
	method, path := "", ""
	if resp.Request != nil {
		method = resp.Request.Method
		path = strings.TrimPrefix(resp.Request.URL.EscapedPath(), c.at.base.EscapedPath())
	}
	var said struct{ Error, Hint, Status string }
	_ = json.Unmarshal(body, &said) // others than a daemon say something else
	text := fmt.Sprintf("%s %s: %s", method, c.Place(path), status(resp))
	if what := cmp.Or(said.Error, said.Status); what != "" {
		text += ": " + printable(what)
	}
	hint := said.Hint
	if hint == "" || c.missesTLS(resp, body) {
		hint = c.hint(resp, body)
	}
	if hint != "" {
		text += " (" + printable(hint) + ")"
	}
	return &Fault{text: text, Status: resp.StatusCode, Lasting: resp.StatusCode/100 <= 4 && resp.StatusCode != http.StatusRequestTimeout && resp.StatusCode != http.StatusTooManyRequests}
}

// hint says what to do about an answer.
func (c *Client) hint(resp *http.Response, body []byte) string {
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden && c.token == "":
		return c.unauthorized()
	case code == http.StatusForbidden:
		return fmt.Sprintf("the token in %s may not do this: set it to one that may, or name another variable with --auth-token-env", c.variable)
	case code/100 == 3:
		to := "elsewhere"
		if at, err := resp.Location(); err == nil {
			at.User, at.RawQuery, at.Fragment = nil, "", ""
			to = "to " + at.String()
		}
		return fmt.Sprintf("it leads %s, and redirects are not followed: name the daemon's own address with --addr", to)
	case c.missesTLS(resp, body):
		return "the daemon serves TLS: call it with https://, and name its authority with --ca"
	}
	return ""
}

func (c *Client) unauthorized() string {
	if c.token == "" {
		return fmt.Sprintf("no token was sent: set %s to one, or name another variable with --auth-token-env", c.variable)
	}
	return fmt.Sprintf("the daemon does not know the token in %s: set it to one of the daemon's, or name another variable with --auth-token-env", c.variable)
}

// inClear reports whether the daemon is called by HTTP over TCP.
func (c *Client) inClear() bool { return c.at.socket == "" && !c.at.tls() }

// missesTLS reports whether an answer complains that it was not asked over TLS, as servers
// do in words of their own.
func (c *Client) missesTLS(resp *http.Response, body []byte) bool {
	if resp.StatusCode != http.StatusBadRequest || !c.inClear() {
		return false
	}
	text := strings.ToUpper(string(body[:min(len(body), maxQuoted)]))
	return strings.Contains(text, "HTTPS") || strings.Contains(text, "TLS")
}
