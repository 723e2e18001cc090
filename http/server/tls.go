package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/internal/certs"
)

// Certificates are what a server shows and demands, as the files had it when they were
// last read. It is safe for concurrent use.
type Certificates struct {
	files   TLS
	log     *slog.Logger
	serving atomic.Pointer[material]

	active   atomic.Int64 // connections whose handshake is complete
	failures *failures
}

// material is what handshakes use. Each has ticket keys of its own, so that a session is
// never resumed past certificates that have changed.
type material struct {
	config  *tls.Config
	pair    *tls.Certificate
	roots   []*x509.Certificate
	clients *x509.CertPool // of the roots; nil: none are demanded
}

// Load reads the files of t. The error begins "Failed to initialize TLS" and names
// each file that is at fault.
func (t TLS) Load(log *slog.Logger) (*Certificates, error) {
	c := &Certificates{files: t, log: log, failures: newFailures()}
	m, err := c.read()
	if err != nil {
		return nil, fmt.Errorf("Failed to initialize TLS: %w", err) //nolint:staticcheck // users find the text in scripts
	}
	c.serving.Store(m)
	return c, nil
}

func (c *Certificates) read() (*material, error) {
	version, err := c.files.Version()
	if err != nil {
		return nil, err
	}
	m := &material{}
	var pairErr, rootsErr error
	m.pair, pairErr = certs.Pair(c.files.Cert, c.files.Key)
	if c.files.ClientCA != "" {
		m.roots, rootsErr = certs.Roots(c.files.ClientCA)
		m.clients = certs.Pool(m.roots)
	}
	if err := errors.Join(pairErr, rootsErr); err != nil {
		return nil, err
	}
	m.config = &tls.Config{
		Certificates: []tls.Certificate{*m.pair}, MinVersion: tls.VersionTLS13, CipherSuites: certs.Suites(),
		NextProtos: []string{"h2", "http/1.1"},
	}
	if version == "1.2" {
		m.config.MinVersion = tls.VersionTLS12
	}
	if m.clients != nil {
		m.config.ClientAuth, m.config.ClientCAs = tls.RequireAndVerifyClientCert, m.clients
	}
	return m, nil
}

// Files are the paths of the files.
func (c *Certificates) Files() []string {
	paths := []string{c.files.Cert, c.files.Key}
	if c.files.ClientCA != "" {
		paths = append(paths, c.files.ClientCA)
	}
	return paths
}

// Renew reads the files again and returns the function that has the next handshakes use
// them. It is nil when they hold what is used already.
func (c *Certificates) Renew() (publish func(), err error) {
	next, err := c.read()
	if err != nil {
		return nil, err
	}
	if now := c.serving.Load(); certs.Same(next.pair, now.pair) && (next.clients == nil || next.clients.Equal(now.clients)) {
		return nil, nil
	}
	return func() {
		c.serving.Store(next)
		c.log.Info("certificate renewed", "path", c.files.Cert, "not_after", next.pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}, nil
}

// Stale reports whether the files hold something else than is used, or nothing that can
// be.
func (c *Certificates) Stale() bool {
	publish, err := c.Renew()
	return publish != nil || err != nil
}

func (c *Certificates) leaf() *x509.Certificate { return c.serving.Load().pair.Leaf }

// register registers the series, which exist only with certificates.
func (c *Certificates) register(reg prometheus.Registerer) error {
	return errors.Join(
		reg.Register(c.failures.count),
		reg.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tls_certificate_expiry_seconds", Help: "Seconds until the certificate of the API expires; negative afterwards.",
		}, func() float64 { return time.Until(c.leaf().NotAfter).Seconds() })),
		reg.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tls_active_connections", Help: "TLS connections whose handshake is complete.",
		}, func() float64 { return float64(c.active.Load()) })))
}
