package template

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// IsJSON reports whether a rendered Content-Type names a JSON type: application/json,
// or one that ends in +json. The place of a body is JSON then, else Plain.
func IsJSON(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	kind = strings.Trim(kind, " \t")
	const suffix = "+json"
	return strings.EqualFold(kind, "application/json") ||
		len(kind) > len(suffix) && strings.Contains(kind, "/") && strings.EqualFold(kind[len(kind)-len(suffix):], suffix)
}

// CheckHeader reports a rendered header value that cannot be sent: with a character
// other than visible ASCII, space and tab. The message does not show the value.
func CheckHeader(value []byte) error {
	for i, c := range value {
		if (c < ' ' || c > '~') && c != '\t' {
			return fmt.Errorf("byte %d is %#02x: only visible ASCII characters, spaces and tabs can be sent", i+1, c)
		}
	}
	return nil
}

// ParseURL reads a rendered URL, which has to be absolute, with the scheme http or
// https and a host. The path segments "." and ".." are refused, percent-encoded or
// not: servers drop them, and with them the segment in front. Messages do not show the
// URL, which may hold secrets.
func ParseURL(rendered []byte) (*url.URL, error) {
	u, err := url.Parse(string(rendered))
	switch {
	case err != nil && strings.HasSuffix(err.Error(), "invalid control character in URL"):
		return nil, errors.New("the URL cannot be read: it has a control character")
	case err != nil: // the text of any other fault may quote a password
		return nil, errors.New("the URL cannot be read: in its host, port, user or an escape with %")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the URL does not begin with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("the URL has no host")
	case (u.Host == "http:" || u.Host == "https:") && strings.HasPrefix(u.Path, "//"):
		return nil, errors.New("the URL has two schemes, one behind the other: does a variable hold a whole URL, and not the host alone?")
	}
	for segment := range strings.SplitSeq(u.EscapedPath(), "/") {
		if plain, err := url.PathUnescape(segment); err == nil && (plain == "." || plain == "..") {
			return nil, fmt.Errorf("the URL has the path segment '%s', which leads elsewhere", plain)
		}
	}
	return u, nil
}
