// Package redact hides secrets in texts that people see: what logs in to the host of a
// URL, parameters whose name says that they are secret, and such flags of a command
// line. Everything else stays as it is, an address of mail for example.
//
// Where a text is no proper URL, too much is hidden rather than too little.
package redact

import (
	"net"
	"regexp"
	"strconv"
	"strings"
)

// mask stands for what is hidden.
const mask = "xxxxx"

var (
	// A URL ends at white space and quotes: what is behind them is other text.
	urls = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'` + "`" + `<>]*`)
	// Parameters begin at a question mark, and end where a URL does or at its fragment.
	parameters = regexp.MustCompile(`\?[^\s"'` + "`" + `<>#]+`)
)

// Text hides the secrets of every URL in a text, and of everything that looks like the
// parameters of one.
func Text(text string) string {
	if strings.Contains(text, "://") {
		text = urls.ReplaceAllStringFunc(text, userinfo)
	}
	if strings.Contains(text, "?") && strings.Contains(text, "=") {
		text = parameters.ReplaceAllStringFunc(text, values)
	}
	return text
}

// values hides the values of secret parameters.
func values(query string) string {
	list := strings.Split(query[1:], "&")
	for i, p := range list {
		if name, value, _ := strings.Cut(p, "="); value != "" && Secret(strings.TrimLeft(name, "?")) {
			list[i] = name + "=" + mask
		}
	}
	return "?" + strings.Join(list, "&")
}

// userinfo hides what stands before the host of a URL, but for a user's name.
func userinfo(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	if scheme == "file" || scheme == "unix" { // a path, whatever it holds
		return url
	}
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return url
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	switch inside := strings.LastIndexByte(authority, '@'); {
	case inside >= 0 && isHost(authority[inside+1:]): // a proper one: the sign behind it belongs to what follows
		at = inside
	case inside < 0 && isHost(authority):
		return url
	}
	user, _, both := strings.Cut(rest[:at], ":")
	if both {
		return scheme + "://" + user + ":" + mask + rest[at:]
	}
	return scheme + "://" + mask + rest[at:]
}

var (
	labels = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+$`)
	single = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
)

// isHost reports whether a text can only be a host: one with a port, one with dots,
// localhost or a literal address. A single word may be part of a password that has a
// sign which belongs into no URL.
func isHost(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
		return host == "localhost" || labels.MatchString(host) || net.ParseIP(host) != nil
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil && (single.MatchString(host) || net.ParseIP(host) != nil)
}

// What names of secrets have in them, or are, without the signs between words.
var (
	parts = []string{"token", "secret", "password", "passwd", "passphrase", "apikey", "credential", "signature"}
	whole = []string{"key", "nkey", "natsnkey", "sig", "auth", "pass", "pwd", "pw", "jwt", "code", "authorization"}
)

// Secret reports whether a parameter or a flag of this name holds a secret. The name of
// an environment variable is none, nor is a file.
func Secret(name string) bool {
	name = strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
	if strings.HasSuffix(name, "env") || strings.HasSuffix(name, "file") {
		return false
	}
	for _, p := range parts {
		if strings.Contains(name, p) {
			return true
		}
	}
	for _, w := range whole {
		if name == w {
			return true
		}
	}
	return false
}

// Args hides the secrets of a command line: values of flags and URLs.
func Args(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		name, _, valued := strings.Cut(a, "=")
		isFlag := strings.HasPrefix(a, "-")
		switch {
		case isFlag && valued && Secret(strings.TrimLeft(name, "-")):
			out[i] = name + "=" + mask
		case i > 0 && flagOf(args[i-1]):
			out[i] = mask
		default:
			out[i] = Text(a)
		}
	}
	return out
}

// flagOf reports whether the argument behind this one is the value of a secret flag.
func flagOf(arg string) bool {
	return strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") && Secret(strings.TrimLeft(arg, "-"))
}
