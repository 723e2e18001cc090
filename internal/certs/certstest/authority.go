// Package certstest makes authorities and certificates for tests.
package certstest

import (
	"crypto"
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

// Authority signs certificates.
type Authority struct {
	File string // its own certificate in PEM
	Pool *x509.CertPool
	Cert *x509.Certificate

	tb   testing.TB
	key  *ecdsa.PrivateKey
	next int64
}

// New returns an authority that is valid for some years.
func New(tb testing.TB, name string) *Authority {
	tb.Helper()
	a := &Authority{tb: tb, Pool: x509.NewCertPool(), key: NewKey(tb), next: time.Now().UnixNano()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.next), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().AddDate(5, 0, 0), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err == nil {
		a.Cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		tb.Fatal(err)
	}
	a.Pool.AddCert(a.Cert)
	a.File = filepath.Join(tb.TempDir(), name+".pem")
	Write(tb, a.File, Block("CERTIFICATE", der))
	return a
}

// NewKey makes a key.
func NewKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// Sign makes a certificate of a key for a name and for 127.0.0.1 and ::1, of servers and
// of clients, that ends after a while.
func (a *Authority) Sign(name string, end time.Duration, public crypto.PublicKey) (der []byte) {
	a.tb.Helper()
	return a.sign(name, -24*time.Hour, end, public)
}

func (a *Authority) sign(name string, begin, end time.Duration, public crypto.PublicKey) (der []byte) {
	a.tb.Helper()
	a.next++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.next), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore:   time.Now().Add(begin), NotAfter: time.Now().Add(end), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.Cert, public, a.key)
	if err != nil {
		a.tb.Fatal(err)
	}
	return der
}

// Issue makes a certificate with its key, as Sign does, and returns their files.
func (a *Authority) Issue(name string, end time.Duration) (cert, key string) {
	a.tb.Helper()
	dir := a.tb.TempDir()
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	a.Renew(name, end, cert, key)
	return cert, key
}

// Renew is Issue over files that exist.
func (a *Authority) Renew(name string, end time.Duration, cert, key string) {
	a.tb.Helper()
	a.Date(name, -24*time.Hour, end, cert, key)
}

// Date is Renew with a certificate that also begins after a while.
func (a *Authority) Date(name string, begin, end time.Duration, cert, key string) {
	a.tb.Helper()
	pair := NewKey(a.tb)
	private, err := x509.MarshalPKCS8PrivateKey(pair)
	if err != nil {
		a.tb.Fatal(err)
	}
	Write(a.tb, key, Block("PRIVATE KEY", private))
	Write(a.tb, cert, Block("CERTIFICATE", a.sign(name, begin, end, &pair.PublicKey)))
}

// Unusable are ways to renew files so that no client can use them, by what an error says
// of it.
func (a *Authority) Unusable() map[string]func(cert, key string) {
	return map[string]func(cert, key string){
		"expired at":           func(cert, key string) { a.Date("expired", -time.Hour, -time.Minute, cert, key) },
		"is not valid before":  func(cert, key string) { a.Date("early", time.Hour, 2*time.Hour, cert, key) },
		"holds nothing in PEM": func(_, key string) { Write(a.tb, key, []byte("half")) },
	}
}

// Pair is Issue for a program.
func (a *Authority) Pair(name string, end time.Duration) tls.Certificate {
	a.tb.Helper()
	pair, err := tls.LoadX509KeyPair(a.Issue(name, end))
	if err != nil {
		a.tb.Fatal(err)
	}
	return pair
}

// Block is a block in PEM.
func Block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// Write replaces a file as a whole.
func Write(tb testing.TB, path string, parts ...[]byte) {
	tb.Helper()
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	fresh := path + ".new"
	if err := os.WriteFile(fresh, all, 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Rename(fresh, path); err != nil {
		tb.Fatal(err)
	}
}
