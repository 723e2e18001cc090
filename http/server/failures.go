package server

import (
	"crypto/tls"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/internal/clip"
	"github.com/sluicehq/sluice/internal/ratelog"
)

// reasonPlain is one more reason of handshakes that fail.
const reasonPlain = "plaintext"

var reasons = append([]string{reasonPlain}, certs.Reasons...)

const (
	maxReason = 256 // bytes of what a failed handshake is told with
	maxCauses = 32  // that are told apart; all others are told by their reason
)

// failures counts handshakes that fail and tells of each cause once in a while. It is safe
// for concurrent use.
type failures struct {
	count *prometheus.CounterVec
	limit ratelog.Limit

	mu     sync.Mutex // guards causes
	causes map[string]bool
}

func newFailures() *failures {
	f := &failures{causes: make(map[string]bool), count: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tls_handshake_failures_total",
		Help: "TLS handshakes that failed, by reason: slow, gone (the client left), plaintext, certificate (one of either side was refused, or is missing), protocol or other.",
	}, []string{"reason"})}
	for _, r := range reasons {
		f.count.WithLabelValues(r)
	}
	return f
}

// failed tells of a handshake that failed, counts it, and answers a client that does not
// speak TLS.
func (c *Certificates) failed(w *wire, err error) {
	if certs.Gone(err) && !w.begun {
		return // it only asked whether anybody listens, as probes of a port do
	}
	reason, text, cause := diagnose(err)
	if held, ok := c.failures.limit.Allow(c.failures.key(reason, cause), 1, time.Now()); ok {
		attrs := []any{"peer", w.RemoteAddr().String(), "reason", reason, "err", text}
		if held > 0 {
			attrs = append(attrs, "suppressed", held)
		}
		c.log.Warn("TLS handshake failed", attrs...)
	}
	c.failures.count.WithLabelValues(reason).Inc()
	if reason == reasonPlain {
		refusePlain(w)
	}
}

// key tells causes apart, as long as they are few: clients choose a part of their text.
func (f *failures) key(reason, cause string) string {
	key := reason + " " + cause
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.causes[key]:
	case len(f.causes) < maxCauses:
		f.causes[key] = true
	default:
		return reason
	}
	return key
}

// Close logs what was kept back of the log. No handshake is made any more.
func (c *Certificates) Close() error {
	rest := make(map[string]int)
	for key, n := range c.failures.limit.RestAll() {
		reason, _, _ := strings.Cut(key, " ")
		rest[reason] += n
	}
	for _, reason := range slices.Sorted(maps.Keys(rest)) {
		c.log.Warn("further TLS handshakes failed", "reason", reason, "count", rest[reason])
	}
	return nil
}

// diagnose says why a handshake failed. The cause is the text without what differs from
// one client or moment to the next.
func diagnose(err error) (reason, text, cause string) {
	var record tls.RecordHeaderError
	if errors.As(err, &record) && record.Conn != nil && looksLikeHTTP(record.RecordHeader) {
		return reasonPlain, "the client speaks plain HTTP, and has to use https://", ""
	}
	f := certs.Diagnose(err, "the API")
	return f.Reason, clip.Text(f.Text, maxReason), clip.Text(f.Cause, maxReason)
}
