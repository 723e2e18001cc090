package checks

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sluicehq/sluice/http/server"
	"github.com/sluicehq/sluice/internal/certs"
)

// misread refuses sections that protect the API and were not understood: elsewhere that
// is a warning, here the daemon would be open to those whom the section keeps out.
func (c *checking) misread() {
	for _, section := range []string{"daemon.api.auth", "daemon.api.tls"} {
		c.problems = append(c.problems, c.l.Misread(section)...)
	}
}

// transport refuses an API that would be served in clear over a network, and warns of one
// that is open or, by permission, in clear.
func (c *checking) transport() {
	const path = "daemon.api.addr"
	if _, err := server.ParseAddress(c.d.API.Addr); err != nil {
		return // the value is reported already
	}
	addr, err := c.d.API.Listener()
	asks := c.d.API.Auth != nil || c.d.API.TokenEnv != ""
	switch {
	case err != nil && (c.l.Made(path) || c.l.Made("daemon.api.tls")):
		c.fault(path, err)
	case err != nil:
		c.doubt(path, err)
	case addr.Loopback():
	case !asks && c.d.API.TLS.ClientCA == "":
		c.warn(path, fmt.Errorf("everybody who reaches %s may use the API: ask for tokens (--api-token-env, daemon.api.auth) or for client certificates (--tls-client-ca)", addr))
	case asks && !c.d.API.TLS.On():
		c.warn(path, fmt.Errorf("tokens and events go to and from %s in clear: serve TLS (--tls-cert, --tls-key)", addr))
	}
}

// certificate reads the files of TLS. A start says in its log what is odd about their dates.
func (c *checking) certificate() {
	tls := c.d.API.TLS
	if tls.Cert == "" || tls.Key == "" {
		return // reported already, or none
	}
	const section = "daemon.api.tls."
	loaded, err := tls.Load(slog.New(slog.DiscardHandler))
	if err == nil {
		if c.validating {
			for _, d := range loaded.Doubts(time.Now()) {
				c.warn(section+d.Key, errors.New(d.Text))
			}
		}
		return
	}
	blame := func(key string, err error) {
		c.fault(section+key, fmt.Errorf("Failed to initialize TLS: %w", err)) //nolint:staticcheck // users find the text in scripts
	}
	rest := certs.Retell(errors.Unwrap(err), func(f *certs.Fault) error {
		switch {
		case f.Key:
			blame("key", f)
		case f.Path == tls.ClientCA && f.Path != tls.Cert:
			blame("client_ca", f)
		default:
			blame("cert", f)
		}
		return nil
	})
	if rest != nil {
		blame("cert", rest)
	}
}

// cleartext warns of certificates for senders of syslog when all of them are taken in clear:
// whoever wrote both may believe that they are not. schemes are those of inputs whose files
// were looked at.
func (c *checking) cleartext(schemes map[string]bool) {
	const section = "daemon.input.syslog.tls"
	if schemes["syslog+tls"] {
		return
	}
	for _, key := range []string{"cert", "key", "client_ca"} {
		if path := section + "." + key; c.l.Made(path) {
			c.warn(path, errors.New("has no effect without an input syslog+tls://, as syslog+tcp:// and syslog+udp:// take messages in clear"))
		}
	}
}
