package certs

import (
	"crypto/x509"
	"time"
)

// Roots reads the certificates of a bundle, at least one.
func Roots(path string) ([]*x509.Certificate, error) { return certificates(path) }

// CurrentRoots is Roots, and wants one that may still sign.
func CurrentRoots(path string, now time.Time) ([]*x509.Certificate, error) {
	roots, err := Roots(path)
	if err != nil {
		return nil, err
	}
	for _, root := range roots {
		if err = Current(root, now); err == nil {
			return roots, nil
		}
	}
	return nil, faultf(path, err, "%v", err)
}

// Pool is a pool of these roots alone.
func Pool(roots []*x509.Certificate) *x509.CertPool { return with(x509.NewCertPool(), roots) }

// PoolWithSystem is a pool of these roots beside those of the system, if it has some.
func PoolWithSystem(roots []*x509.Certificate) *x509.CertPool {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	return with(pool, roots)
}

func with(pool *x509.CertPool, roots []*x509.Certificate) *x509.CertPool {
	for _, root := range roots {
		pool.AddCert(root)
	}
	return pool
}
