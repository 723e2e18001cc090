package natsconn

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Config says how to log in to every NATS server, and how to know one. All of it
// stands in flags and variables, none in files.
type Config struct {
	Creds      string `yaml:"-" flag:"nats-creds" env:"NATS_CREDS" help:"File with the user's JWT and NKey seed"`
	Token      string `yaml:"-" flag:"nats-token" env:"NATS_TOKEN" help:"Token"`
	User       string `yaml:"-" flag:"nats-user" env:"NATS_USER" help:"User name; needs --nats-password"`
	Password   string `yaml:"-" flag:"nats-password" env:"NATS_PASSWORD" help:"Password; needs --nats-user"`
	NKey       string `yaml:"-" flag:"nats-nkey" env:"NATS_NKEY" help:"NKey seed"`
	TLSCert    string `yaml:"-" flag:"nats-tls-cert" help:"Client certificate; needs --nats-tls-key"`
	TLSKey     string `yaml:"-" flag:"nats-tls-key" help:"Key of the client certificate"`
	TLSCA      string `yaml:"-" flag:"nats-tls-ca" help:"Roots of server certificates, beside those of the system"`
	RequireTLS bool   `yaml:"-" flag:"nats-require-tls" help:"Refuse servers without TLS"`
}

// Client says how a process connects. Log is required.
type Client struct {
	Config Config
	Log    *slog.Logger
}

// Validate reports ways to log in that exclude each other, and halves of pairs.
func (c Config) Validate(fault func(key string, err error)) {
	if (c.User == "") != (c.Password == "") {
		fault("--nats-user", errors.New("--nats-user and --nats-password belong together"))
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		fault("--nats-tls-cert", errors.New("--nats-tls-cert and --nats-tls-key belong together"))
	}
	var methods []string
	for _, m := range []struct {
		flag  string
		given bool
	}{
		{"--nats-creds", c.Creds != ""},
		{"--nats-nkey", c.NKey != ""},
		{"--nats-token", c.Token != ""},
		{"--nats-user", c.User != "" || c.Password != ""},
	} {
		if m.given {
			methods = append(methods, m.flag)
		}
	}
	if len(methods) > 1 {
		fault(methods[0], fmt.Errorf("excludes %s", strings.Join(methods[1:], " and ")))
	}
}

// Address is the server and the subject that "host:port/subject" names.
func Address(target string) (server, subject string, err error) {
	host, subject, _ := strings.Cut(target, "/")
	err = checkHost(host)
	switch {
	case strings.Contains(host, "@"), err != nil && strings.Contains(target, "@"):
		return "", "", errors.New("a NATS URL holds no credentials (--nats-user, --nats-token, --nats-nkey and --nats-creds give them)")
	case err != nil:
		return "", "", err
	}
	return "nats://" + host, subject, nil
}

// Concrete reports a subject that does not name one place: with wildcards, empty
// tokens or white space.
func Concrete(subject string) error {
	for token := range strings.SplitSeq(subject, ".") {
		if token == "" || strings.ContainsAny(token, "*> \t\r\n") {
			return fmt.Errorf("subject '%s' must be concrete: tokens with dots between them, none of them empty, without '*', '>' and white space", subject)
		}
	}
	return nil
}

// Covers reports whether every subject that filter matches is matched by one of the
// patterns, too.
func Covers(patterns []string, filter string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return covers(p, filter) })
}

func covers(pattern, filter string) bool {
	have, want := strings.Split(pattern, "."), strings.Split(filter, ".")
	for i, token := range have {
		switch {
		case token == ">":
			return i < len(want)
		case i >= len(want) || want[i] == ">":
			return false
		case token != "*" && token != want[i]:
			return false
		}
	}
	return len(have) == len(want)
}

// Overlap reports whether one subject may be matched by both filters.
func Overlap(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		switch {
		case x[i] == ">" || y[i] == ">":
			return true
		case x[i] != "*" && y[i] != "*" && x[i] != y[i]:
			return false
		}
	}
	return len(x) == len(y)
}

// Reserved reports whether a filter takes subjects by which servers are asked. Most of them
// refuse an ordinary stream that takes those.
func Reserved(filter string) bool {
	return slices.ContainsFunc([]string{"$JS.>", "$JSC.>", "$NRG.>", "$SYS.>"}, func(own string) bool { return Overlap(filter, own) }) &&
		!Covers([]string{"$JS.EVENT.>", "$SYS.ACCOUNT.>"}, filter)
}

// StreamName is the name of the stream that is made for a filter when none takes it.
func StreamName(filter string) string { return "sluice-" + Sanitised(filter) }

// Sanitised is a filter as a part of names.
func Sanitised(filter string) string {
	name := strings.TrimRight(strings.NewReplacer(".", "-", ">", "-", "*", "-").Replace(filter), "-")
	if name == "" {
		return "all"
	}
	return name
}

// checkHost wants host and port.
func checkHost(text string) error {
	host, port, err := net.SplitHostPort(text)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || host == "" || bad != nil || n == 0 {
		if strings.Contains(text, ",") {
			return fmt.Errorf("'%s' is no host:port: name one server, the others of its cluster become known from it", text)
		}
		return fmt.Errorf("'%s' is no host:port", text)
	}
	return nil
}
