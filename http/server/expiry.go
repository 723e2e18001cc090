package server

import (
	"crypto/x509"
	"fmt"
	"log/slog"
	"time"

	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/internal/plural"
)

// soon is how long before its end a certificate is warned of.
const soon = 30 * 24 * time.Hour

// Doubt is what is odd about the dates of a file that can be used all the same.
type Doubt struct {
	Key  string // of the setting, below that of TLS
	Text string
	path string
	date slog.Attr
}

// Warn tells of all doubts.
func (c *Certificates) Warn(now time.Time) {
	for _, d := range c.Doubts(now) {
		c.log.Warn(d.Text, slog.String("path", d.path), d.date)
	}
}

// Doubts are about a certificate that is not valid yet, has expired or will in less than 30
// days, and about roots of clients that are not valid.
func (c *Certificates) Doubts(now time.Time) (all []Doubt) {
	m := c.serving.Load()
	if text := doubtful(m.pair.Leaf, now); text != "" {
		all = append(all, Doubt{"cert", "the certificate of the API " + text, c.files.Cert, dateOf(m.pair.Leaf, now)})
	}
	var first *x509.Certificate
	n := 0
	for _, root := range m.roots {
		if certs.Current(root, now) != nil {
			if n++; first == nil {
				first = root
			}
		}
	}
	if n > 0 {
		state := "has expired"
		if now.Before(first.NotBefore) {
			state = "is not valid yet"
		}
		text := fmt.Sprintf("the root %q of client certificates %s: clients that it vouches for are refused", first.Subject, state)
		if n > 1 {
			text += "; so are those of " + plural.Of(n-1, "other root")
		}
		all = append(all, Doubt{"client_ca", text, c.files.ClientCA, dateOf(first, now)})
	}
	return all
}

// doubtful says what the dates of a certificate mean for clients; nothing when they are
// as they should be.
func doubtful(leaf *x509.Certificate, now time.Time) string {
	switch left := leaf.NotAfter.Sub(now); {
	case now.Before(leaf.NotBefore):
		return "is not valid yet: clients refuse it"
	case left < 0:
		return "has expired: clients refuse it"
	case left < 24*time.Hour:
		return "expires in less than a day"
	case left < soon:
		return "expires in " + plural.Of(int(left/(24*time.Hour)), "day")
	}
	return ""
}

// dateOf is the date of a certificate that matters now.
func dateOf(c *x509.Certificate, now time.Time) slog.Attr {
	if now.Before(c.NotBefore) {
		return slog.String("not_before", c.NotBefore.UTC().Format(time.RFC3339))
	}
	return slog.String("not_after", c.NotAfter.UTC().Format(time.RFC3339))
}
