package natstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// CA signs certificates.
type CA struct {
	t    *testing.T
	File string // its certificate in PEM
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	last int64
}

// NewCA makes one that is valid for an hour.
func NewCA(t *testing.T) *CA {
	t.Helper()
	ca := &CA{t: t, last: 1}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"}, NotBefore: time.Now().Add(-time.Minute),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	ca.cert, ca.key = ca.sign(template, nil)
	ca.File = ca.write("ca.pem", "CERTIFICATE", ca.cert.Raw)
	return ca
}

// Pool holds the CA alone.
func (ca *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	return pool
}

// Leaf makes a certificate for 127.0.0.1, and for clients, that ends after a while,
// and returns the files of it and of its key.
func (ca *CA) Leaf(end time.Duration) (cert, key string) {
	ca.t.Helper()
	ca.last++
	leaf, private := ca.sign(&x509.Certificate{
		SerialNumber: big.NewInt(ca.last), Subject: pkix.Name{CommonName: "sluice"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(end), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, ca)
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		ca.t.Fatal(err)
	}
	return ca.write("cert.pem", "CERTIFICATE", leaf.Raw), ca.write("key.pem", "PRIVATE KEY", raw)
}

// Server is the configuration of a server with a certificate that ends after a while.
func (ca *CA) Server(end time.Duration) *tls.Config {
	ca.t.Helper()
	pair, err := tls.LoadX509KeyPair(ca.Leaf(end))
	if err != nil {
		ca.t.Fatal(err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientCAs: ca.Pool()}
}

// sign signs a template, with its own key when there is no issuer.
func (ca *CA) sign(template *x509.Certificate, issuer *CA) (*x509.Certificate, *ecdsa.PrivateKey) {
	ca.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		ca.t.Fatal(err)
	}
	parent, signer := template, key
	if issuer != nil {
		parent, signer = issuer.cert, issuer.key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		ca.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		ca.t.Fatal(err)
	}
	return cert, key
}

func (ca *CA) write(name, kind string, raw []byte) string {
	ca.t.Helper()
	file := filepath.Join(ca.t.TempDir(), name)
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600); err != nil {
		ca.t.Fatal(err)
	}
	return file
}
