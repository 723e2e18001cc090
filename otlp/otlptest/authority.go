package otlptest

import (
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/certs/certstest"
)

// Authority signs certificates.
type Authority struct {
	File string // its own certificate
	Pool *x509.CertPool

	dir string
	own *certstest.Authority
}

// NewAuthority returns an authority with a name of its own.
func NewAuthority(tb testing.TB, name string) *Authority {
	tb.Helper()
	a := certstest.New(tb, name)
	return &Authority{File: a.File, Pool: a.Pool, dir: tb.TempDir(), own: a}
}

// Issue makes a certificate for a name, and for 127.0.0.1, that is valid until end. It
// writes both files under the name, over those of an earlier call.
func (a *Authority) Issue(name string, end time.Time) (cert, key string) {
	cert, key = filepath.Join(a.dir, name+".crt"), filepath.Join(a.dir, name+".key")
	a.own.Renew(name, time.Until(end), cert, key)
	return cert, key
}

// Server is the configuration of a server with a new certificate for a name.
func (a *Authority) Server(name string, end time.Time) *tls.Config {
	pair := a.own.Pair(name, time.Until(end))
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
}
