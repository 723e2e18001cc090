package webhook

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/time/rate"

	"github.com/sluicehq/sluice/internal/signing"
)

// Webhook is an entry that was read. It never changes.
type Webhook struct {
	ID         string // its label in metrics, mailboxes and records
	Attempts   int    // of a delivery, the first included
	Backoff    time.Duration
	MaxBackoff time.Duration
	QueueSize  int

	form     *Form
	method   string
	fixedURL *url.URL // of every result; nil if there are references in it
	hasBody  bool
	timeout  time.Duration
	requests int           // of the bound on attempts; 0 without one
	per      time.Duration // that so many are allowed in
	tls      *tls.Config   // nil for that of all webhooks
	signer   *signing.Signer
}

// Form is what the webhook takes, and how.
func (w *Webhook) Form() *Form { return w.form }

// Clients makes the clients of webhooks.
type Clients struct {
	// New returns a client that keeps connections, with TLS settings of its own or, for
	// nil, those of the system.
	New    func(*tls.Config) *http.Client
	shared *http.Client
}

// of returns the client of a webhook: one of its own if it has certificates, else that of
// all others.
func (c *Clients) of(w *Webhook) *http.Client {
	if w.tls != nil {
		return c.New(w.tls)
	}
	if c.shared == nil {
		c.shared = c.New(nil)
	}
	return c.shared
}

// Open returns the transport of a webhook. It connects with the first result.
func (c *Clients) Open(w *Webhook, m *Metrics, log *slog.Logger) *Transport {
	t := &Transport{w: w, client: c.of(w), series: m.of(w.ID), log: log, limiter: rate.NewLimiter(rate.Inf, 0)}
	if w.requests > 0 {
		t.limiter = rate.NewLimiter(rate.Limit(float64(w.requests)/w.per.Seconds()), w.requests)
	}
	t.fixedHeader = fixedHeader(w.form)
	return t
}

// fixedHeader are the headers of a form without references.
func fixedHeader(f *Form) http.Header {
	h := make(http.Header, len(f.headers))
	if !f.plain {
		return h
	}
	for _, one := range f.headers {
		text, _ := one.value.Literal()
		h.Set(one.name, text)
	}
	return h
}
