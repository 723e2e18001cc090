package natstest

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/certs/certstest"
)

// CA signs certificates of NATS servers and of their clients.
type CA struct {
	File string // its certificate in PEM

	authority *certstest.Authority
}

// NewCA makes one.
func NewCA(t *testing.T) *CA {
	t.Helper()
	a := certstest.New(t, "test CA")
	return &CA{a.File, a}
}

// Pool holds the CA alone.
func (ca *CA) Pool() *x509.CertPool { return ca.authority.Pool }

// Leaf makes a certificate for 127.0.0.1, and for clients, that ends after a while,
// and returns the files of it and of its key.
func (ca *CA) Leaf(end time.Duration) (cert, key string) { return ca.authority.Issue("sluice", end) }

// Server is the configuration of a server with a certificate that ends after a while.
func (ca *CA) Server(end time.Duration) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{ca.authority.Pair("sluice", end)}, ClientCAs: ca.Pool()}
}
