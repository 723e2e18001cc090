package certs

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrEncrypted is within the error of a key that needs a password.
var ErrEncrypted = errors.New("encrypted keys are not supported")

// Decrypt says how an encrypted key becomes one that can be read.
func Decrypt(path string) string {
	return fmt.Sprintf("decrypt it with: openssl pkey -in %s -out decrypted.key", path)
}

// Pair reads a certificate, its own first and those that lead to a root behind it, and its
// key. Both may be in one file.
func Pair(cert, key string) (*tls.Certificate, error) {
	chain, certErr := certificates(cert)
	keyBlock, keyErr := privateKey(key)
	var fault *Fault
	if errors.As(keyErr, &fault) {
		fault.Key = true
	}
	if certErr != nil || keyErr != nil {
		return nil, errors.Join(certErr, keyErr)
	}
	var text bytes.Buffer
	for _, c := range chain {
		if err := pem.Encode(&text, &pem.Block{Type: certificateBlock, Bytes: c.Raw}); err != nil {
			return nil, err
		}
	}
	pair, err := tls.X509KeyPair(text.Bytes(), pem.EncodeToMemory(keyBlock))
	if err != nil {
		return nil, mismatch(cert, key, chain, keyBlock, err)
	}
	return &pair, nil
}

// Same reports whether two certificates have the same chain, and so the same key.
func Same(a, b *tls.Certificate) bool {
	if len(a.Certificate) != len(b.Certificate) {
		return false
	}
	for i := range a.Certificate {
		if !bytes.Equal(a.Certificate[i], b.Certificate[i]) {
			return false
		}
	}
	return true
}

// Current reports a certificate that has expired, or is not valid yet.
func Current(c *x509.Certificate, now time.Time) error {
	switch {
	case now.After(c.NotAfter):
		return fmt.Errorf("the certificate expired at %s; renew it", c.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(c.NotBefore):
		return fmt.Errorf("the certificate is not valid before %s", c.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

// certificates returns those of a file, at least one.
func certificates(path string) ([]*x509.Certificate, error) {
	blocks, err := read(path)
	if err != nil {
		return nil, err
	}
	var list []*x509.Certificate
	for _, b := range blocks {
		if b.Type != certificateBlock {
			continue
		}
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, faultf(path, err, "certificate %d cannot be parsed: %v", len(list)+1, err)
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, faultf(path, nil, "the file holds no certificate, but: %s", kinds(blocks))
	}
	return list, nil
}

// privateKey returns the first key of a file.
func privateKey(path string) (*pem.Block, error) {
	blocks, err := read(path)
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		switch {
		case encrypted(b):
			return nil, faultf(path, ErrEncrypted, "the key is encrypted, and %v; %s", ErrEncrypted, Decrypt(path))
		case strings.HasSuffix(b.Type, keySuffix):
			if _, err := parseKey(b.Bytes); err != nil {
				return nil, faultf(path, err, "the key cannot be parsed (supported: RSA, ECDSA and Ed25519, in PKCS#8, PKCS#1 or SEC 1)")
			}
			return b, nil
		}
	}
	return nil, faultf(path, nil, "the file holds no private key, but: %s", kinds(blocks))
}

// parseKey tries every form, as the headers of files are not always right.
func parseKey(der []byte) (crypto.PrivateKey, error) {
	if k, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		return k, nil
	}
	if k, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return k, nil
	}
	return x509.ParseECPrivateKey(der)
}

// mismatch says why a certificate and a key, of which each can be parsed, make no pair.
func mismatch(cert, key string, chain []*x509.Certificate, b *pem.Block, cause error) error {
	parsed, err := parseKey(b.Bytes)
	signer, ok := parsed.(crypto.Signer)
	if err != nil || !ok {
		return ofKey(key, cause, "makes no pair with the certificate %s (%v)", cert, cause)
	}
	public, comparable := signer.Public().(interface{ Equal(crypto.PublicKey) bool })
	for i, c := range chain {
		if comparable && i > 0 && public.Equal(c.PublicKey) {
			return faultf(cert, cause, "the key %s is that of certificate %d; put that one first, and those that lead to a root behind it", key, i+1)
		}
	}
	return ofKey(key, cause, "is not the key of the certificate %s (%v)", cert, cause)
}

func ofKey(path string, cause error, format string, args ...any) *Fault {
	f := faultf(path, cause, format, args...)
	f.Key = true
	return f
}
