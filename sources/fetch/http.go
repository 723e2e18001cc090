package fetch

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/clip"
	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/internal/redact"
	"github.com/sluicehq/sluice/internal/response"
)

// maxTold is how many bytes of what a server says an error holds.
const maxTold = 512

// request asks a server.
func (c *Client) request(ctx context.Context, d *Declaration, known *Validators) ([]byte, Value, error) {
	r, secrets, err := c.prepare(ctx, d)
	if err != nil {
		return nil, Value{}, err
	}
	conditional := addValidators(r, known)
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, Value{}, &Error{Kind: Fetch, Detail: secrets.hide(cause(err).Error()), cause: err}
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusNotModified && conditional:
		response.Discard(answer)
		v := Value{NotModified: true, Validators: *known}
		if now := validators(r, answer); now != (Validators{}) {
			v.Validators = now
		}
		return nil, v, nil
	case answer.StatusCode < 200 || answer.StatusCode > 299:
		return nil, Value{}, refused(answer, secrets)
	case answer.Header.Get("Content-Encoding") != "" && answer.Header.Get("Content-Encoding") != "identity":
		return nil, Value{}, fault(Fetch, "the body has the encoding '%s', which nobody asked for but the header Accept-Encoding (remove it)", secrets.hide(answer.Header.Get("Content-Encoding")))
	}
	data, err := response.ReadBody(answer, d.MaxBody)
	switch {
	case errors.Is(err, response.ErrTooLarge):
		return nil, Value{}, fault(ResourceLimit, "response body exceeds %d byte limit", d.MaxBody)
	case err != nil:
		return nil, Value{}, err
	}
	return data, Value{Validators: validators(r, answer)}, nil
}

// prepare makes the request, with the environment as it is now, and names what nobody may
// see of it.
func (c *Client) prepare(ctx context.Context, d *Declaration) (*http.Request, secrets, error) {
	e := expansion{c: c, d: d}
	var body io.Reader
	if d.HasBody {
		text := e.expand(d.Body)
		e.hidden = append(e.hidden, text)
		body = strings.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, d.Method, d.URL, body)
	if err != nil {
		return nil, nil, errors.New("the URL or the method is none")
	}
	for _, h := range d.Headers {
		value := e.expand(h.Value)
		e.hidden = append(e.hidden, value)
		if r.Header.Add(h.Name, value); http.CanonicalHeaderKey(h.Name) == "Host" {
			r.Host = value
		}
	}
	if u := r.URL.User; u != nil {
		password, _ := u.Password()
		login := base64.StdEncoding.EncodeToString([]byte(u.Username() + ":" + password)) // as the header has it
		e.hidden = append(e.hidden, u.Username(), password, login)
	}
	for name, values := range r.URL.Query() {
		if redact.Secret(name) {
			e.hidden = append(e.hidden, values...)
		}
	}
	return r, e.hidden.sorted(), nil
}

// expansion puts the environment into texts and remembers what it put there.
type expansion struct {
	c      *Client
	d      *Declaration
	hidden secrets
}

var reference = regexp.MustCompile(`\$\{[A-Z_][A-Z0-9_]*\}`)

func (e *expansion) expand(text string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		value := e.c.environment(e.d, ref[2:len(ref)-1])
		e.hidden = append(e.hidden, value)
		return value
	})
}

// secrets are texts that no error shows, the longest first.
type secrets []string

// shortestSecret is how long a text is at least that is hidden. Shorter ones are in every
// text.
const shortestSecret = 4

func (s secrets) sorted() secrets {
	s = slices.DeleteFunc(s, func(text string) bool { return len(text) < shortestSecret })
	slices.SortFunc(s, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(s)
}

// hide removes the secrets from what a server said.
func (s secrets) hide(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// cause is what made a request fail, without the URL, which may hold secrets.
func cause(err error) error {
	var denied *egress.Denied
	if errors.As(err, &denied) {
		return denied
	}
	var at *url.Error
	for errors.As(err, &at) {
		err = at.Err
	}
	return err
}

// refused is the error of an answer that is no success.
func refused(answer *http.Response, hidden secrets) *Error {
	status := fmt.Sprintf("HTTP %d %s", answer.StatusCode, strings.TrimSpace(strings.TrimPrefix(answer.Status, fmt.Sprint(answer.StatusCode))))
	body, _ := response.ReadRest(answer) // whatever of it there is
	text := strings.TrimSpace(hidden.hide(strings.ToValidUTF8(string(body), "\uFFFD")))
	if text == "" {
		return fault(Fetch, "%s", hidden.hide(strings.TrimSpace(status)))
	}
	return fault(Fetch, "%s: %s", hidden.hide(strings.TrimSpace(status)), clip.Text(text, maxTold))
}

// addValidators makes a request conditional, if it may be, and reports whether it did.
func addValidators(r *http.Request, known *Validators) bool {
	if known == nil || *known == (Validators{}) || r.Method != http.MethodGet {
		return false
	}
	for _, own := range []string{"If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range", "Range"} {
		if r.Header[own] != nil {
			return false // the declaration has its own conditions
		}
	}
	if known.ETag != "" {
		r.Header.Set("If-None-Match", known.ETag)
	}
	if known.LastModified != "" {
		r.Header.Set("If-Modified-Since", known.LastModified)
	}
	return true
}

// validators are those of an answer that comes from where the request went: elsewhere the
// headers of the next request would not go.
func validators(r *http.Request, answer *http.Response) Validators {
	if last := answer.Request.URL; last.Scheme != r.URL.Scheme || last.Host != r.URL.Host {
		return Validators{}
	}
	return Validators{answer.Header.Get("ETag"), answer.Header.Get("Last-Modified")}
}
